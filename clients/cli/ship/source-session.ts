import type { EntrySession, OpenSession, ShippedEntry } from "./entry-session.ts";
import type { LineSplitter } from "./line-splitter.ts";
import { decodeText } from "./line-text.ts";
import { type Position, positionAfter } from "./position.ts";

/** Sessions that leave lines as they are, for a source whose mapping makes the entries of them. */
export const sourceSessions: OpenSession = (from) => new SourceSession(from);

class SourceSession implements EntrySession {
  position: Readonly<Position>;
  readonly isWaiting = false;

  constructor(from: Readonly<Position>) {
    this.position = from;
  }

  take(piece: LineSplitter): ShippedEntry[] {
    const isLater = this.position.part > 0;
    const after = positionAfter(piece, this.position, piece.end);
    this.position = after;
    if (piece.start === piece.end) return [];
    const { text, invalidUtf8 } = decodeText(piece.bytes.subarray(piece.start, piece.end));
    const isEnd = after.part === 0;
    const kind = isLater ? "later part" : isEnd ? "line" : "first part";
    const unknown = { isRecognised: false, timeMs: null, level: null, service: null, source: null };
    return [{ text, after, lines: isEnd ? 1 : 0, kind, invalidUtf8, ...unknown, timesWithoutZone: 0 }];
  }

  flush(): ShippedEntry[] {
    return [];
  }
}
