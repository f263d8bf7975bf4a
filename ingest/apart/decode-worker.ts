/** The program of the thread that decodes large bodies: a job comes in, its outcome goes out, one after the other. */
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { IngestRejectedError } from "../errors.ts";
import { type DecodeJob, decodeBody } from "./decode-body.ts";
import type { DecodeOutcome } from "./decode-outcome.ts";

/** Where cores are few, whoever waits for an answer comes first; 0 is this thread alone on Linux. */
if (process.platform === "linux") setPriority(0, 10);

parentPort?.on("message", (job: DecodeJob) => {
  const outcome = outcomeOf(job);
  parentPort?.postMessage(outcome, outcome.kind === "decoded" ? [outcome.body.block.buffer] : []);
  // What a body leaves behind is several times its size; here nobody waits while it is collected.
  Bun.gc(true);
});

function outcomeOf(job: DecodeJob): DecodeOutcome {
  try {
    return { kind: "decoded", body: decodeBody(job) };
  } catch (error) {
    if (error instanceof IngestRejectedError)
      return { kind: "rejected", message: error.message, issues: error.issues };
    return { kind: "failed", error };
  }
}
