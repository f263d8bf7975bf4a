import type { MemoryShare } from "../concurrency/memory-share.ts";
import { ANSWER_MAX_MS, ANSWER_PIECE_BYTES, ANSWER_STALL_MS, WHOLE_ANSWER_MAX_BYTES } from "./limits.ts";

/** An answer whose text is made while the client takes it. */
interface AnswerText {
  readonly pieces: AsyncGenerator<string, undefined>;
  /** What the pieces are made of counts here; closed when the answer has ended, however it has. */
  readonly memory: MemoryShare;
  readonly headers: Readonly<Record<string, string>>;
  /** How long the client may take in all, in milliseconds. */
  readonly maxMs?: number;
  /** How long it may take nothing. */
  readonly stallMs?: number;
  /** Called once when nobody takes more, before the pieces have come to their end. */
  readonly onGone?: () => void;
}

/**
 * The response with this text. A short one is sent whole. What is wrong before it is longer than that is thrown, and
 * told with a status; later it breaks the connection off, so that the client sees an answer without an end.
 */
export async function answerWith(text: AnswerText): Promise<Response> {
  const { pieces, headers } = text;
  let first = "";
  while (first.length < WHOLE_ANSWER_MAX_BYTES) {
    const piece = await pieces.next();
    if (piece.done === true) return new Response(first, { headers });
    first += piece.value;
  }
  return new Response(streamOf(Buffer.from(first), text), { headers });
}

/** The same without waiting for the first pieces: for what is slow to begin and says itself what goes wrong. */
export function answerAtOnceWith(text: AnswerText): Response {
  return new Response(streamOf(new Uint8Array(), text), { headers: text.headers });
}

/** The body of an answer that is there already. */
export function bodyOf(bytes: Uint8Array, memory: MemoryShare): ReadableStream<Uint8Array> {
  return streamOf(bytes, { pieces: nothing(), memory, headers: {} });
}

async function* nothing(): AsyncGenerator<string, undefined> {}

/**
 * Sends pieces as fast as the connection takes them: nothing is asked for while the kernel holds as much as it will. A
 * reader that takes too long is left, and what its answer holds is given back.
 */
function streamOf(
  first: Uint8Array,
  { pieces, memory, maxMs = ANSWER_MAX_MS, stallMs = ANSWER_STALL_MS, onGone }: AnswerText,
): ReadableStream<Uint8Array> {
  memory.handOver();
  const deadlineMs = performance.now() + maxMs;
  let pending = first;
  let patience: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    clearTimeout(patience);
    pending = new Uint8Array();
    memory.close();
  };
  const leave = (): void => {
    end();
    onGone?.();
    // How the making of what nobody reads ends concerns nobody.
    pieces.return(undefined).catch(() => undefined);
  };
  const awaitReader = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const patienceMs = Math.min(stallMs, Math.max(0, deadlineMs - performance.now()));
    patience = setTimeout(() => {
      controller.error(new Error("an answer was not taken in time"));
      leave();
    }, patienceMs);
  };
  return new ReadableStream<Uint8Array>(
    {
      start: awaitReader,
      pull: async (controller) => {
        clearTimeout(patience);
        try {
          while (pending.length === 0) {
            const piece = await pieces.next();
            if (piece.done === true) {
              end();
              controller.close();
              return;
            }
            pending = Buffer.from(piece.value);
          }
        } catch (error) {
          leave();
          throw error;
        }
        controller.enqueue(pending.subarray(0, ANSWER_PIECE_BYTES));
        pending = pending.subarray(ANSWER_PIECE_BYTES);
        awaitReader(controller);
      },
      cancel: leave,
    },
    // Nothing is read ahead of the client.
    { highWaterMark: 0 },
  );
}
