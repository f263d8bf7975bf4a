import { RelayedFrames } from "../../../../ingest/decode/syslog/relayed-frames.ts";
import { SyslogDecoder } from "../../../../ingest/decode/syslog/syslog-decoder.ts";
import { type DecodedEntry, decodeEntries, RECEIVED_AT_MS } from "../decoded-entries.ts";

/** Who sends every message of these tests. */
export const PEER = "192.0.2.99";

const syslog = new SyslogDecoder({ now: () => RECEIVED_AT_MS });

/** The entries of messages, of which there is one for each. */
export function decodeMessages(messages: readonly (string | Uint8Array)[]): readonly DecodedEntry[] {
  const frames = new RelayedFrames();
  for (const message of messages)
    frames.add(PEER, typeof message === "string" ? Buffer.from(message) : message);
  return decodeEntries(syslog, frames.take());
}

export function decodeMessage(message: string | Uint8Array): DecodedEntry {
  const [entry] = decodeMessages([message]);
  if (entry === undefined) throw new Error("no entry");
  return entry;
}
