/** The program of a thread that makes no checks and tells when it was begun, by the clock of whoever did. */
import { parentPort, workerData } from "node:worker_threads";
import type { CheckThreadSettings, FromCheckThread } from "../../../../src/probes/schedule/messages.ts";

const settings: CheckThreadSettings = workerData;
const message: FromCheckThread = { kind: "fault", message: `begun at ${settings.sentAtMs}` };
parentPort?.postMessage(message);
// It lives for as long as somebody may tell it something.
parentPort?.on("message", () => undefined);
