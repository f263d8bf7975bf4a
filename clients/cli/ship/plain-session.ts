import { CliError } from "../cli-error.ts";
import type { EntrySession, OpenSession, ShippedEntry } from "./entry-session.ts";
import type { EntryText, LineFormat } from "./entry-text.ts";
import type { LineSplitter } from "./line-splitter.ts";
import { decodeText } from "./line-text.ts";
import { type Position, positionAfter } from "./position.ts";
import { nativeLine, textsOf } from "./text-entries.ts";

/** Sessions in which a line that is an entry of the API is that entry, and any other the text of one. */
export function plainSessions(format: LineFormat, entryText: EntryText): OpenSession {
  return (from) => new PlainSession(from, format, entryText);
}

class PlainSession implements EntrySession {
  position: Readonly<Position>;
  /** A line is complete by itself. */
  readonly isWaiting = false;
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
      if (entry !== null) return [nativeLine(entry, after)];
    }
    if (this.#format === "ndjson")
      throw new CliError(
        `line ${this.position.line + 1} is not a log entry; without --format ndjson it is shipped as text`,
      );
    return textsOf(piece, this.position, this.#entryText);
  }
}
