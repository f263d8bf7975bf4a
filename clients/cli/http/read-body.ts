import type { ApiAnswer, OpenAnswer } from "./api-client.ts";
import type { EventStreamParser, ServerSentEvent } from "./event-stream.ts";
import { UnreachableError } from "./failures.ts";
import { unreachable } from "./unreachable.ts";

export interface ReadOptions {
  /** Milliseconds without a byte after which the connection is taken for dead. Time in which nobody reads does not count. */
  readonly silenceMs: number;
  /** Named in failures. */
  readonly baseUrl: string;
}

/**
 * The events of an answer, chunk by chunk; a chunk that finishes none is told as an empty list. Ends when the server ends the
 * stream. Throws UnreachableError when the connection breaks or is silent for too long.
 */
export async function* readEvents(
  answer: OpenAnswer,
  parser: EventStreamParser,
  options: ReadOptions,
): AsyncGenerator<readonly ServerSentEvent[]> {
  for await (const chunk of readChunks(answer, options)) yield parser.push(chunk);
}

/** The rest of an answer as text. Throws UnreachableError like `readEvents`. */
export async function readText(answer: OpenAnswer, options: ReadOptions): Promise<ApiAnswer> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of readChunks(answer, options)) text += decoder.decode(chunk, { stream: true });
  return { status: answer.status, headers: answer.headers, text: text + decoder.decode() };
}

async function* readChunks({ body, close }: OpenAnswer, options: ReadOptions): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const chunk = await withinSilence(reader.read(), options);
      if (chunk.done) return;
      yield chunk.value;
    }
  } finally {
    close();
  }
}

async function withinSilence<T>(read: Promise<T>, { silenceMs, baseUrl }: ReadOptions): Promise<T> {
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
