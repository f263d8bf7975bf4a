import { createParser, type EventSourceParser } from "eventsource-parser";
import { CallError } from "./errors.ts";
import { EVENT_MAX_CHARS } from "./limits.ts";

/** One event of a stream. `type` is `message` where the stream names none. */
export interface ServerSentEvent {
  type: string;
  data: string;
}

/** Parses an event stream from chunks that end anywhere, also inside a character. An event that does not end is none. */
export class EventStreamParser {
  /** The parser takes the byte order mark away; a decoder that did so too would take two. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #parser: EventSourceParser;
  #events: ServerSentEvent[] = [];
  #lastEventId: string;
  #retryMs: number | null = null;

  /** `lastEventId` is what the stream before left off with. */
  constructor(lastEventId = "") {
    this.#lastEventId = lastEventId;
    this.#parser = createParser({
      maxBufferSize: EVENT_MAX_CHARS,
      onEvent: ({ event = "message", data }) => this.#events.push({ type: event, data }),
      onId: (id) => {
        this.#lastEventId = id;
      },
      onRetry: (ms) => {
        this.#retryMs = ms;
      },
      onError: ({ type }) => {
        // What else it reports, the standard ignores.
        if (type === "max-buffer-size-exceeded")
          throw new CallError(`the server sent an event of more than ${EVENT_MAX_CHARS} characters`);
      },
    });
  }

  /** Where a new request goes on: the id that the last finished block carried or inherited, empty when there was none. */
  get lastEventId(): string {
    return this.#lastEventId;
  }

  /** How long the server asks to wait before a new request; null when it does not say. */
  get retryMs(): number | null {
    return this.#retryMs;
  }

  /** The events that this chunk finishes. Throws CallError when one is larger than any entry can be. */
  push(chunk: Uint8Array): ServerSentEvent[] {
    this.#events = [];
    this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
    return this.#events;
  }
}

/** True when the answer with these headers is an event stream. */
export function isEventStream({ headers }: { readonly headers: Headers }): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(headers.get("content-type") ?? "");
}
