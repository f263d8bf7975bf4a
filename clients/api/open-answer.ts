import { type TextAnswer, UnreachableError } from "./errors.ts";
import type { EventStreamParser, ServerSentEvent } from "./stream.ts";
import { unreachable } from "./unreachable.ts";

interface OpenAnswerOptions {
  readonly response: Response;
  /** Milliseconds without a byte after which the connection is taken for dead. Time in which nobody reads does not count. */
  readonly silenceMs: number;
  /** Named in failures. */
  readonly baseUrl: string;
  /** Ends the connection. */
  readonly close: () => void;
}

/** An answer whose body is read as it comes, once, by one of its methods or by `close`. */
export class OpenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly #options: OpenAnswerOptions;

  constructor(options: OpenAnswerOptions) {
    this.status = options.response.status;
    this.headers = options.response.headers;
    this.#options = options;
  }

  /** Ends the connection, whatever is still to come. */
  close(): void {
    this.#options.close();
  }

  /**
   * The body in the pieces in which it comes. Throws UnreachableError when the connection breaks or is silent for too long.
   */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const reader = this.#options.response.body?.getReader();
    try {
      while (reader !== undefined) {
        const chunk = await this.#withinSilence(reader.read());
        if (chunk.done) return;
        yield chunk.value;
      }
    } finally {
      this.close();
    }
  }

  /**
   * The events of a stream, chunk by chunk; a chunk that finishes none is told as an empty list. Ends when the server ends
   * the stream. Throws like `chunks`, and CallError for an event that is too large.
   */
  async *events(parser: EventStreamParser): AsyncGenerator<readonly ServerSentEvent[]> {
    for await (const chunk of this.chunks()) yield parser.push(chunk);
  }

  /** The whole body as text. Throws like `chunks`. */
  async read(): Promise<TextAnswer> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of this.chunks()) text += decoder.decode(chunk, { stream: true });
    return { status: this.status, headers: this.headers, text: text + decoder.decode() };
  }

  async #withinSilence<T>(read: Promise<T>): Promise<T> {
    const { silenceMs, baseUrl } = this.#options;
    const silence = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const message = `${baseUrl} has been silent for ${silenceMs / 1000} s`;
      silence.reject(new UnreachableError(message, { retryable: true }));
    }, silenceMs);
    try {
      return await Promise.race([read, silence.promise]);
    } catch (error) {
      throw error instanceof UnreachableError ? error : unreachable(baseUrl, error);
    } finally {
      clearTimeout(timer);
    }
  }
}
