/** Where the text of an event stream comes from. */
export interface EventSource {
  /**
   * The next text to send, once there is one; null ends the stream. Asked again only when the connection has taken what
   * was sent before: as long as the reader is slow, nobody asks.
   */
  read(): Promise<string | null>;
  /** The reader is gone. */
  cancel(): void;
}

interface ServerSentEvent {
  /** What `EventSource` calls it; absent for a block that only moves the reader's position. */
  readonly event?: string;
  /** What the reader sends as `Last-Event-ID` when it comes back. */
  readonly id?: string;
  readonly data?: string;
}

/** A comment: keeps proxies from taking the stream for dead. */
export const SSE_COMMENT = ":\n\n";

/** Of a response that is an event stream. */
export const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** How long a reader waits before it comes back, in milliseconds. */
export function sseRetry(milliseconds: number): string {
  return `retry: ${milliseconds}\n\n`;
}

/** One block of an event stream. `event` and `id` hold no line break; `data` may. */
export function sseBlock({ event, id, data }: ServerSentEvent): string {
  const head = (event === undefined ? "" : `event: ${event}\n`) + (id === undefined ? "" : `id: ${id}\n`);
  if (data === undefined) return `${head}\n`;
  if (!/[\r\n]/.test(data)) return `${head}data: ${data}\n\n`;
  return `${head}${data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join("")}\n`;
}

/** The response that streams it. Its route sets `idleTimeoutSec: 0`, or a quiet stream is cut. */
export function sseResponse(source: EventSource): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const text = await source.read();
        if (text === null) controller.close();
        else controller.enqueue(encoder.encode(text));
      },
      cancel: () => source.cancel(),
    },
    // Nothing is read ahead: what is not asked for stays where it is bounded and counted.
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: SSE_HEADERS });
}
