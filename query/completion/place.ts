import type { Span } from "../span.ts";
import { lex } from "../syntax/lex.ts";
import type { Token } from "../syntax/token.ts";

/** A token of the operator that is being written; brackets and what is in them are one. */
export interface Item {
  readonly kind: Token["kind"] | "group";
  readonly text: string;
  readonly span: Span;
}

/** The inside of a bracket, or the whole text: statements of operators with pipes between them. */
export interface Frame {
  /** The word in front of the bracket, such as the name of a function; null when there is none. */
  readonly caller: string | null;
  /** The statements that are complete. */
  readonly statements: readonly Span[];
  /** Where the current pipeline begins, behind `let name =`. */
  readonly start: number;
  /** Where the last `|` of the current pipeline stands; null in front of the first one. */
  readonly pipe: number | null;
  /** What stands behind that pipe, or at the start, in front of the word at the cursor. */
  readonly items: readonly Item[];
}

/** Where the cursor stands. */
export interface Place {
  /** What is typed of the word at the cursor. */
  readonly typed: string;
  /** The whole word, which a completion replaces. */
  readonly replace: Span;
  /** From the whole text to the innermost bracket. */
  readonly frames: readonly Frame[];
}

interface OpenFrame {
  caller: string | null;
  opening: Span;
  statements: Span[];
  statementStart: number;
  start: number;
  pipe: number | null;
  items: Item[];
}

const WORD_END = /[\p{L}\p{N}_-]*/uy;

/** Null inside of a text in quotes, a number or a comment, where nothing is to be completed. */
export function findPlace(text: string, position: number): Place | null {
  const before = lex(text.slice(0, position)).slice(0, -1);
  const last = before.at(-1);
  const touches = last !== undefined && last.span.end === position;
  if (touches && last.kind !== "name" && last.kind !== "symbol") return null;
  if (text.slice(last?.span.end ?? 0, position).includes("//")) return null;
  const word = wordTokens(before, position);
  const start = word[0]?.span.start ?? position;
  WORD_END.lastIndex = position;
  const end = word.length === 0 ? position : position + (WORD_END.exec(text)?.[0].length ?? 0);
  return {
    typed: text.slice(start, position),
    replace: { start, end },
    frames: openFrames(before.slice(0, before.length - word.length)),
  };
}

/** The tokens of the word at the position: one name, or names with hyphens where only an operator has them. */
function wordTokens(before: readonly Token[], position: number): readonly Token[] {
  let first = before.length;
  let end = position;
  while (
    before[first - 1]?.span.end === end &&
    (before[first - 1]?.kind === "name" || before[first - 1]?.text === "-")
  ) {
    first--;
    end = before[first]?.span.start ?? 0;
  }
  const isOperator = before[first - 1]?.text === "|";
  const isName = before.at(-1)?.kind === "name" && before.at(-1)?.span.end === position;
  return isOperator ? before.slice(first) : isName ? before.slice(-1) : [];
}

function openFrames(tokens: readonly Token[]): Frame[] {
  const frames: OpenFrame[] = [newFrame(null, { start: 0, end: 0 })];
  for (const token of tokens) {
    const frame = frames.at(-1);
    if (frame === undefined) break;
    const text = token.kind === "symbol" ? token.text : "";
    if (text === "(" || text === "[" || text === "{") {
      const caller = frame.items.at(-1);
      frames.push(newFrame(caller?.kind === "name" ? caller.text : null, token.span));
    } else if ((text === ")" || text === "]" || text === "}") && frames.length > 1) {
      frames.pop();
      frames.at(-1)?.items.push({
        kind: "group",
        text: "()",
        span: { start: frame.opening.start, end: token.span.end },
      });
    } else if (text === ";") {
      frame.statements.push({ start: frame.statementStart, end: token.span.start });
      Object.assign(frame, { statementStart: token.span.end, start: token.span.end, pipe: null, items: [] });
    } else if (text === "|") {
      Object.assign(frame, { pipe: token.span.start, items: [] });
    } else {
      frame.items.push(token);
      const [keyword, , equals] = frame.items;
      if (frame.items.length === 3 && keyword?.text === "let" && equals?.text === "=" && frame.pipe === null)
        Object.assign(frame, { start: token.span.end, items: [] });
    }
  }
  return frames;
}

function newFrame(caller: string | null, opening: Span): OpenFrame {
  const start = opening.end;
  return { caller, opening, statements: [], statementStart: start, start, pipe: null, items: [] };
}
