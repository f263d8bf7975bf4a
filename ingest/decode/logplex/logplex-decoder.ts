import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { readOctetFrames } from "../syslog/octet-frames.ts";
import type { SyslogRecords } from "../syslog/syslog-records.ts";

/** What the headers of a request say. */
export interface LogplexRequest {
  /** `Logplex-Msg-Count`: how many frames the sender put into the body. */
  readonly messageCount: number | null;
  /** `Logplex-Drain-Token`: which drain sent it, not a secret. */
  readonly drainToken: string | null;
}

/** What cannot be framed is kept in pieces that the quarantine takes whole. */
const PIECE_BYTES = 256 * 1024;

/**
 * RFC 5424 messages without structured data, each behind the number of its bytes. What cannot be framed is kept with its
 * reason, and so is a difference to the count of the sender: it repeats a refused request once at most and then drops
 * it, so that a refusal would lose the frames that are there. Source: Heroku, logplex, "Logplex HTTP Drains" and
 * `logplex_http_drain.erl`.
 */
export class LogplexDecoder implements RecordDecoder {
  readonly format = "platform-b";
  readonly #syslog: SyslogRecords;
  readonly #request: LogplexRequest;

  constructor(syslog: SyslogRecords, request: LogplexRequest) {
    this.#syslog = syslog;
    this.#request = request;
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    const { messageCount, drainToken } = this.#request;
    const attributes = drainToken === null ? {} : { "logplex.drain_token": drainToken };
    let frames = 0;
    const fault = readOctetFrames(body, (start, end) => {
      frames++;
      const message = body.subarray(start, end);
      this.#syslog.write(message, writer, { peer: null, form: "without structured data", attributes });
    });
    if (fault !== null)
      for (let at = fault.at; at < body.length; at += PIECE_BYTES)
        writer.reject({
          place: `byte ${at}`,
          reason: at === fault.at ? fault.reason : "goes on from the piece before",
          raw: body.subarray(at, at + PIECE_BYTES),
        });
    else if (messageCount !== null && messageCount !== frames)
      writer.reject({
        place: "Logplex-Msg-Count",
        reason: `the sender counted ${messageCount} messages and the body has ${frames}`,
        raw: `Logplex-Msg-Count: ${messageCount}`,
      });
  }
}
