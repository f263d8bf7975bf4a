/** A part of a pattern: text, any number of characters, one character, or one of the dashes of Windows options. */
type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "many" }
  | { readonly kind: "one" }
  | { readonly kind: "dash" };

/** What a text has to look like, whole. */
export type TextPattern = readonly Piece[];

export const MANY: Piece = { kind: "many" };

/**
 * A value with `*` and `?`. A backslash before one of them or before a backslash takes its meaning; any other is itself.
 * Source: Sigma specification 2, "Escaping".
 */
export function readPattern(value: string): TextPattern {
  const pieces: Piece[] = [];
  let text = "";
  const flush = (): void => {
    if (text !== "") pieces.push({ kind: "text", text });
    text = "";
  };
  for (let i = 0; i < value.length; i++) {
    const character = value.charAt(i);
    const next = value.charAt(i + 1);
    if (character === "\\" && (next === "\\" || next === "*" || next === "?")) {
      text += next;
      i++;
    } else if (character === "*" || character === "?") {
      flush();
      pieces.push({ kind: character === "*" ? "many" : "one" });
    } else text += character;
  }
  flush();
  return merged(pieces);
}

export function plainPattern(text: string): TextPattern {
  return text === "" ? [] : [{ kind: "text", text }];
}

/** The text that a pattern without wildcards is; null for one with any. */
export function plainTextOf(pattern: TextPattern): string | null {
  if (pattern.length === 0) return "";
  const [first, ...others] = pattern;
  return first?.kind === "text" && others.length === 0 ? first.text : null;
}

export function concatenated(...parts: readonly TextPattern[]): TextPattern {
  return merged(parts.flat());
}

/** Neighbours that say the same as one are one. */
function merged(pieces: readonly Piece[]): TextPattern {
  const kept: Piece[] = [];
  for (const piece of pieces) {
    const last = kept.at(-1);
    if (piece.kind === "text" && last?.kind === "text")
      kept[kept.length - 1] = { kind: "text", text: last.text + piece.text };
    else if (piece.kind !== "many" || last?.kind !== "many") kept.push(piece);
  }
  return kept;
}

/** The dashes and the slash that begin an option of a Windows command line. */
const OPTION_DASH = /(?<![\p{L}\p{N}_])[-/\u2013\u2014\u2015](?=[\p{L}\p{N}_])/u;

/** Wherever an option begins, any dash may stand for its own. Source: Sigma specification 2, modifier windash. */
export function withAnyDash(pattern: TextPattern): TextPattern {
  return merged(
    pattern.flatMap((piece): readonly Piece[] => {
      if (piece.kind !== "text") return [piece];
      return piece.text
        .split(OPTION_DASH)
        .flatMap((text, i): Piece[] => [
          ...(i === 0 ? [] : [{ kind: "dash" } as const]),
          ...(text === "" ? [] : [{ kind: "text", text } as const]),
        ]);
    }),
  );
}
