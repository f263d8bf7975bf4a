import { isUtf8 } from "node:buffer";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { decodeLenient } from "../lenient-text.ts";
import { type Line, linesOf } from "../lines.ts";
import { parsePrefix } from "../syslog/parse-syslog.ts";
import { findCef } from "./cef-header.ts";
import { CefMessage } from "./cef-message.ts";

const encoder = new TextEncoder();

/**
 * Common Event Format, one message a line, each perhaps behind a syslog header; empty lines are skipped. A line that is
 * not CEF is rejected by itself. Bytes that are not UTF-8 become the characters that Latin-1 has for them.
 */
export class CefDecoder implements RecordDecoder {
  readonly format = "cef";
  readonly #message = new CefMessage();
  readonly #now: () => number;

  constructor(options: { now: () => number }) {
    this.#now = options.now;
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    const nowMs = this.#now();
    const isText = isUtf8(body);
    for (const line of linesOf(body)) {
      const bytes = isText ? line.bytes : encoder.encode(decodeLenient(line.bytes, 0, line.bytes.length));
      this.#decodeLine(bytes, line, nowMs, writer);
    }
  }

  #decodeLine(bytes: Uint8Array, line: Line, nowMs: number, writer: RecordWriter): void {
    const at = findCef(bytes, 0, bytes.length);
    const problem = at === -1 ? "the line has no CEF header" : this.#message.read(bytes, at);
    if (problem !== null) {
      writer.reject({ place: `line ${line.number}`, reason: problem, raw: line.bytes });
      return;
    }
    writer.begin();
    const prefix = at === 0 ? null : parsePrefix(decodeLenient(bytes, 0, at), "standard", nowMs);
    this.#message.write(writer, { prefix, peer: null, nowMs });
    writer.end();
  }
}
