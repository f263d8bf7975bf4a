/** A worker that makes the checks it is sent, one after the other, and posts what came of each. */
import type { CheckSpec } from "../../src/probes/check.ts";
import { checking, verdict } from "./checking.ts";

declare const self: Worker;

const run = checking();
self.onmessage = async ({ data }: MessageEvent<CheckSpec>) => {
  self.postMessage(verdict(await run(data)));
};
