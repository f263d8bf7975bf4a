import { CliError } from "../cli-error.ts";
import { EVENT_MAX_CHARS } from "../limits.ts";

/** One event of a stream. `type` is `message` where the stream names none. */
export interface ServerSentEvent {
  type: string;
  data: string;
}

/**
 * Parses an event stream as the HTML standard says (section 9.2.6), from chunks that end anywhere: inside a line end or
 * inside a character. An event that the stream does not finish is not an event.
 */
export class EventStreamParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** Up to here `#rest` holds no line end. */
  #searched = 0;
  /** The chunk before ended with CR, so that an LF now belongs to the same line end. */
  #endedWithCr = false;
  #type = "";
  #data: string[] = [];
  #dataChars = 0;
  #id: string;
  #lastEventId: string;
  #retryMs: number | null = null;

  /** `lastEventId` is what the stream before left off with. */
  constructor(lastEventId = "") {
    this.#id = lastEventId;
    this.#lastEventId = lastEventId;
  }

  /** Where a new request goes on: the id that the last finished block carried or inherited, empty when there was none. */
  get lastEventId(): string {
    return this.#lastEventId;
  }

  /** How long the server asks to wait before a new request; null when it does not say. */
  get retryMs(): number | null {
    return this.#retryMs;
  }

  /** The events that this chunk finishes. Throws CliError when one is larger than any entry can be. */
  push(chunk: Uint8Array): ServerSentEvent[] {
    let text = this.#decoder.decode(chunk, { stream: true });
    if (text === "") return [];
    if (this.#endedWithCr && text.startsWith("\n")) text = text.slice(1);
    this.#endedWithCr = text === "" ? false : text.endsWith("\r");
    this.#rest += text;
    const events: ServerSentEvent[] = [];
    for (let line = this.#takeLine(); line !== null; line = this.#takeLine()) {
      const event = this.#acceptLine(line);
      if (event !== null) events.push(event);
    }
    if (this.#rest.length + this.#dataChars > EVENT_MAX_CHARS)
      throw new CliError(`the server sent an event of more than ${EVENT_MAX_CHARS} characters`);
    return events;
  }

  #takeLine(): string | null {
    LINE_END.lastIndex = this.#searched;
    const found = LINE_END.exec(this.#rest);
    if (found === null) {
      this.#searched = this.#rest.length;
      return null;
    }
    const line = this.#rest.slice(0, found.index);
    this.#rest = this.#rest.slice(LINE_END.lastIndex);
    this.#searched = 0;
    return line;
  }

  #acceptLine(line: string): ServerSentEvent | null {
    if (line === "") return this.#finishBlock();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#type = value;
    else if (name === "data") {
      this.#data.push(value);
      this.#dataChars += value.length + 1;
    } else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.#retryMs = Number(value);
    return null;
  }

  #finishBlock(): ServerSentEvent | null {
    this.#lastEventId = this.#id;
    const event = { type: this.#type || "message", data: this.#data.join("\n") };
    const isEvent = this.#data.length > 0;
    this.#type = "";
    this.#data = [];
    this.#dataChars = 0;
    return isEvent ? event : null;
  }
}

/** True when the answer with these headers is an event stream. */
export function isEventStream({ headers }: { readonly headers: Headers }): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

const LINE_END = /\r\n|\n|\r/g;
