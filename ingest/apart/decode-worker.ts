/** The program of the thread that decodes large bodies: a task comes in, its outcome goes out, one after the other. */
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { readDeliveryEnvelope } from "../decode/delivery-stream/delivery-envelope.ts";
import { IngestRejectedError } from "../errors.ts";
import { DECODE_COLLECT_BYTES } from "../limits.ts";
import { freeBuffer } from "../native/free-bytes.ts";
import { decodeBody } from "./decode-body.ts";
import type { DecodeOutcome } from "./decode-outcome.ts";
import type { ThreadTask } from "./thread-task.ts";

/** Where cores are few, whoever waits for an answer comes first; 0 is this thread alone on Linux. */
if (process.platform === "linux") setPriority(0, 10);

let uncollectedBytes = 0;

parentPort?.on("message", (task: ThreadTask) => {
  uncollectedBytes += task.body.length;
  const outcome = outcomeOf(task);
  const given = givenAway(outcome);
  if (!given.some((buffer) => buffer === task.body.buffer)) freeBuffer(task.body.buffer);
  parentPort?.postMessage(outcome, given);
  // What bodies leave behind is several times their size; here nobody waits while it is collected, which takes as
  // long as decoding several hundred KiB.
  if (uncollectedBytes < DECODE_COLLECT_BYTES) return;
  uncollectedBytes = 0;
  Bun.gc(true);
});

function outcomeOf(task: ThreadTask): DecodeOutcome {
  try {
    return task.task === "open"
      ? { kind: "opened", envelope: readDeliveryEnvelope(task.body, writable(task.body)) }
      : { kind: "decoded", body: decodeBody(task) };
  } catch (error) {
    if (error instanceof IngestRejectedError)
      return { kind: "rejected", message: error.message, issues: error.issues };
    return { kind: "failed", error };
  }
}

/** A body, which is this thread's own, to be written over; undefined for memory that others see, too. */
function writable({ buffer, byteOffset, length }: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  return buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, length) : undefined;
}

function givenAway(outcome: DecodeOutcome): ArrayBuffer[] {
  if (outcome.kind === "decoded") return outcome.body.slices.map(({ bytes }) => bytes.buffer);
  return outcome.kind === "opened" ? [outcome.envelope.data.buffer] : [];
}
