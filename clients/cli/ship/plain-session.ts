import { CliError } from "../cli-error.ts";
import { MESSAGE_MAX_CHARS } from "../limits.ts";
import { endOfCodePoints } from "./code-points.ts";
import type { EntrySession, OpenSession, ShippedEntry } from "./entry-session.ts";
import type { EntryText, LineFormat } from "./entry-text.ts";
import type { LineSplitter } from "./line-splitter.ts";
import { decodeText } from "./line-text.ts";
import { type Position, positionAfter } from "./position.ts";

/** Sessions in which a line that is an entry of the API is that entry, and any other the text of one. */
export function plainSessions(format: LineFormat, entryText: EntryText): OpenSession {
  return (from) => new PlainSession(from, format, entryText);
}

class PlainSession implements EntrySession {
  position: Readonly<Position>;
  readonly #format: LineFormat;
  readonly #entryText: EntryText;

  constructor(from: Readonly<Position>, format: LineFormat, entryText: EntryText) {
    this.position = from;
    this.#format = format;
    this.#entryText = entryText;
  }

  take(piece: LineSplitter): ShippedEntry[] {
    const entries = this.#entriesOf(piece);
    this.position = entries.at(-1)?.after ?? positionAfter(piece, this.position, piece.end);
    return entries;
  }

  /** A line is complete by itself. */
  flush(): ShippedEntry[] {
    return [];
  }

  #entriesOf(piece: LineSplitter): ShippedEntry[] {
    if (piece.start === piece.end) return [];
    const isWhole = piece.endsLine && !piece.continued;
    if (isWhole && this.#format !== "lines") {
      const line = decodeText(piece.bytes.subarray(piece.start, piece.end)).text;
      const entry = this.#entryText.ofNative(line);
      const after = positionAfter(piece, this.position, piece.end);
      if (entry !== null) return [{ ...entry, after, lines: 1, kind: "native", invalidUtf8: false }];
    }
    if (this.#format === "ndjson")
      throw new CliError(
        `line ${this.position.line + 1} is not a log entry; without --format ndjson it is shipped as text`,
      );
    return this.#textsOf(piece);
  }

  #textsOf(piece: LineSplitter): ShippedEntry[] {
    const entries: ShippedEntry[] = [];
    let position = this.position;
    for (let at = piece.start; at < piece.end; ) {
      const cut = endOfCodePoints(piece.bytes, at, piece.end, MESSAGE_MAX_CHARS);
      const { text, invalidUtf8 } = decodeText(piece.bytes.subarray(at, cut));
      at = cut;
      const after = positionAfter(piece, position, cut);
      const isLast = after.part === 0;
      const lines = isLast ? 1 : 0;
      if (isLast && position.part === 0) {
        const { text: json, timeMs, level, service, source } = this.#entryText.ofText(text);
        // Member by member: most lines come here.
        entries.push({ text: json, after, lines, kind: "line", invalidUtf8, timeMs, level, service, source });
      } else {
        const part = position.part + 1;
        const entry = this.#entryText.ofText(text, { line: piece.lineStart, part, last: isLast });
        entries.push({ ...entry, after, lines, kind: part === 1 ? "first part" : "later part", invalidUtf8 });
      }
      position = after;
    }
    return entries;
  }
}
