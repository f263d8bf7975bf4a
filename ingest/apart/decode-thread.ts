import { Worker } from "node:worker_threads";
import type { DeliveryEnvelope } from "../decode/delivery-stream/delivery-envelope.ts";
import { IngestRejectedError, IngestUnavailableError } from "../errors.ts";
import {
  DECODE_MAX_WAITING_BYTES,
  DECODE_MAX_WAITING_BYTES_OF_ONE,
  DECODE_THREAD_IDLE_MS,
} from "../limits.ts";
import type { DecodedBody, DecodeJob } from "./decode-body.ts";
import type { DecodeOutcome } from "./decode-outcome.ts";
import type { ThreadTask } from "./thread-task.ts";
import { TurnQueue } from "./turn-queue.ts";

const PROGRAM = new URL("./decode-worker.ts", import.meta.url);

interface Waiting {
  readonly task: ThreadTask;
  readonly outcome: PromiseWithResolvers<DecodeOutcome>;
}

/**
 * Decodes large bodies on a thread of its own, one at a time: decoding takes several times the size of a body in memory.
 * The thread begins with the first body and ends when none has come for a while.
 */
export class DecodeThread {
  readonly #waiting = new TurnQueue<Waiting>({
    maxBytes: DECODE_MAX_WAITING_BYTES,
    maxBytesOfOne: DECODE_MAX_WAITING_BYTES_OF_ONE,
  });
  #thread: Worker | null = null;
  #running: Waiting | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  /**
   * Decodes a body as `decodeBody` does. Its bytes are given away: they cannot be read any more afterwards. Rejects with
   * IngestRejectedError, and with IngestUnavailableError when too many bodies wait.
   */
  async decode(job: DecodeJob): Promise<DecodedBody> {
    const outcome = await this.#run({ task: "decode", ...job });
    if (outcome.kind === "decoded") return outcome.body;
    throw refusalOf(outcome);
  }

  /** Reads the envelope of a delivery stream as `readDeliveryEnvelope` does; as `decode` otherwise. */
  async open(organizationId: number, body: Uint8Array): Promise<DeliveryEnvelope> {
    const outcome = await this.#run({ task: "open", organizationId, body });
    if (outcome.kind === "opened") return outcome.envelope;
    throw refusalOf(outcome);
  }

  /** Ends the thread and refuses whatever is not decoded yet. */
  close(): void {
    this.#closed = true;
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take())
      next.outcome.reject(closing());
    this.#running?.outcome.reject(closing());
    this.#running = null;
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = null;
    void thread?.terminate();
  }

  #startNext(): void {
    if (this.#running !== null) return;
    clearTimeout(this.#idle);
    const next = this.#waiting.take();
    if (next === undefined) {
      this.#idle = setTimeout(() => this.#stop(), DECODE_THREAD_IDLE_MS).unref();
      return;
    }
    this.#running = next;
    const body = ownBytes(next.task.body);
    this.#thread ??= this.#begin();
    this.#thread.postMessage({ ...next.task, body }, [body.buffer]);
  }

  #run(task: ThreadTask): Promise<DecodeOutcome> {
    if (this.#closed) return Promise.reject(closing());
    const waiting: Waiting = { task, outcome: Promise.withResolvers() };
    if (!this.#waiting.add(task.organizationId, waiting, task.body.length))
      return Promise.reject(new IngestUnavailableError("in_flight", "too many large log requests wait"));
    this.#startNext();
    return waiting.outcome.promise;
  }

  #begin(): Worker {
    const thread = new Worker(PROGRAM);
    thread.on("message", (outcome: DecodeOutcome) => this.#end(outcome));
    const fail = (error: unknown): void => {
      // One that was stopped ends as well.
      if (this.#thread !== thread) return;
      this.#thread = null;
      if (this.#running !== null) this.#end({ kind: "failed", error });
    };
    thread.on("error", fail);
    thread.on("exit", () => fail(new Error("the thread that decodes has ended")));
    thread.unref();
    return thread;
  }

  #end(outcome: DecodeOutcome): void {
    const ended = this.#running?.outcome;
    this.#running = null;
    ended?.resolve(outcome);
    this.#startNext();
  }
}

/** What to throw for an outcome that is not the one that was asked for. */
function refusalOf(outcome: DecodeOutcome): unknown {
  if (outcome.kind === "rejected") return new IngestRejectedError(outcome.message, outcome.issues);
  return outcome.kind === "failed" ? outcome.error : new Error("the thread answered another task");
}

function closing(): IngestUnavailableError {
  return new IngestUnavailableError("closing", "the server is shutting down");
}

/** The bytes as the beginning of a buffer of their own, which can be given away; copied when they lie within another one. */
function ownBytes(body: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = body;
  return buffer instanceof ArrayBuffer && byteOffset === 0 ? new Uint8Array(buffer, 0, length) : body.slice();
}
