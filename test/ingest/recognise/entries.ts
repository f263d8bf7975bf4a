import {
  LineRecogniser,
  type LineRecogniserOptions,
  type RecognisedEntry,
} from "../../../ingest/recognise/index.ts";
import { WRITTEN_AT } from "./line-case.ts";

const encoder = new TextEncoder();

/** The entries of a text or its bytes, read in chunks that end at the given places. */
export function entriesOf(
  text: string | Uint8Array,
  cuts: readonly number[] = [],
  options: Partial<LineRecogniserOptions> = {},
): RecognisedEntry[] {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const entries: RecognisedEntry[] = [];
  const recogniser = new LineRecogniser({ yearReferenceMs: WRITTEN_AT, ...options });
  let from = 0;
  for (const cut of [...cuts.filter((place) => place < bytes.length).sort((a, b) => a - b), bytes.length]) {
    recogniser.push(bytes.subarray(from, cut), (entry) => entries.push(entry));
    from = cut;
  }
  recogniser.end((entry) => entries.push(entry));
  return entries;
}

/** Their messages. */
export function messagesOf(text: string): string[] {
  return entriesOf(text).map(({ message }) => message);
}
