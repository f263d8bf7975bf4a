import { eventually } from "../../../harness/eventually.ts";

interface ReadEvent {
  /** "" for a block without an event. */
  readonly event: string;
  readonly id: string | null;
  readonly data: string;
  readonly atMs: number;
}

/** A reader of an event stream, over a real connection. */
export class EventReader {
  readonly events: ReadEvent[] = [];
  status = 0;
  comments = 0;
  lastEventId = "";
  retryMs = 0;
  isEnded = false;
  readonly #abort = new AbortController();

  /** Connects and resolves when the answer has begun, whatever its status. */
  static async open(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
    const reader = new EventReader();
    const response = await fetch(url, { headers, signal: reader.#abort.signal });
    reader.status = response.status;
    if (response.body !== null) void reader.#consume(response.body);
    return reader;
  }

  close(): void {
    this.#abort.abort();
  }

  /** The messages of the entries so far, in order. */
  get messages(): string[] {
    return this.entries.map((entry) => String(entry.message));
  }

  get entries(): Record<string, unknown>[] {
    return this.of("log").map(({ data }): Record<string, unknown> => JSON.parse(data));
  }

  of(event: string): ReadEvent[] {
    return this.events.filter((found) => found.event === event);
  }

  /** Resolves with the first event of that name. */
  async next(event: string): Promise<ReadEvent> {
    return eventually(`an event ${event}`, () => this.of(event)[0]);
  }

  async haveMessages(count: number): Promise<string[]> {
    await eventually(`${count} entries, not ${this.messages.length}`, () => this.of("log").length >= count);
    return this.messages;
  }

  async #consume(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for await (const chunk of body) {
        text += decoder.decode(chunk, { stream: true });
        for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
          this.#readBlock(text.slice(0, end));
          text = text.slice(end + 2);
        }
      }
    } catch {
      // The connection was cut, here or there.
    }
    this.isEnded = true;
  }

  #readBlock(block: string): void {
    let event = "";
    let id: string | null = null;
    const data: string[] = [];
    for (const line of block.split("\n")) {
      if (line.startsWith(":")) this.comments++;
      const [, name = "", value = ""] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
      if (name === "event") event = value;
      else if (name === "id") id = value;
      else if (name === "data") data.push(value);
      else if (name === "retry") this.retryMs = Number(value);
    }
    if (id !== null) this.lastEventId = id;
    if (event !== "" || id !== null)
      this.events.push({ event, id, data: data.join("\n"), atMs: performance.now() });
  }
}
