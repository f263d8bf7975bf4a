import { ApiError } from "../errors.ts";

/** How fast a body has to come. */
export interface BodyPace {
  /** How long it may take in all. */
  readonly timeoutMs: number;
  /** How long it may take besides what its bytes are given; also the longest silence at the beginning. */
  readonly graceMs: number;
  readonly minBytesPerSec: number;
}

/**
 * Waits for a body that is being read, as long as it keeps its pace on the whole: each byte that came gives it time for
 * more, so that a slow link or a pause is no harm, and one that only trickles is given up early. `received` tells how many
 * bytes there are so far. Throws REQUEST_TIMEOUT for one that is too slow, and closes its connection, and
 * VALIDATION_FAILED for one that breaks off: nothing but the client ends a body early.
 */
export async function keepingPace<T>(body: Promise<T>, pace: BodyPace, received: () => number): Promise<T> {
  const tooSlow = Promise.withResolvers<never>();
  const startedMs = performance.now();
  let timer: ReturnType<typeof setTimeout>;
  const judge = (): void => {
    const leftMs = allowedMs(pace, received()) - (performance.now() - startedMs);
    if (leftMs <= 0) tooSlow.reject(requestTimeout());
    else timer = setTimeout(judge, Math.ceil(leftMs));
  };
  timer = setTimeout(judge, allowedMs(pace, received()));
  try {
    return await Promise.race([body, tooSlow.promise]);
  } catch (error) {
    throw error instanceof ApiError ? error : endedEarly(error);
  } finally {
    clearTimeout(timer);
  }
}

/** How long a body may have taken by the time so many bytes of it are there. */
export function allowedMs({ timeoutMs, graceMs, minBytesPerSec }: BodyPace, receivedBytes: number): number {
  return Math.min(timeoutMs, graceMs + (receivedBytes * 1000) / minBytesPerSec);
}

function requestTimeout(): ApiError {
  // What is still to come of the body belongs to nobody.
  return new ApiError("REQUEST_TIMEOUT", "The body did not arrive in time.", {
    headers: { connection: "close" },
  });
}

function endedEarly(cause: unknown): ApiError {
  const message = "ended before it was complete";
  return new ApiError("VALIDATION_FAILED", `The body ${message}.`, {
    fields: [{ path: "", code: "custom", message }],
    cause,
  });
}
