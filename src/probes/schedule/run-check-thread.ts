import { parentPort, workerData } from "node:worker_threads";
import type { RunCheck } from "../check.ts";
import { CHECKS_MAX_IN_FLIGHT, RESULTS_GATHERED_MS } from "./limits.ts";
import type { CheckThreadSettings, FromCheckThread, ToCheckThread } from "./messages.ts";
import { Schedule, type SlotResult } from "./schedule.ts";
import { SenderClock } from "./sender-clock.ts";
import { besideCanaries } from "./uplink.ts";

/** The program of a thread that makes checks: the schedule, its clock, and nothing that could be late beside them. */
export function runCheckThread(run: RunCheck): void {
  const settings: CheckThreadSettings = workerData;
  let gathered: SlotResult[] = [];
  const send = (): void => {
    const message: FromCheckThread = { kind: "results", results: gathered };
    gathered = [];
    parentPort?.postMessage(message);
  };
  const clock = new SenderClock(settings.sentAtMs);
  const schedule = new Schedule({
    run: besideCanaries(run, settings.canaries),
    maxInFlight: CHECKS_MAX_IN_FLIGHT,
    time: settings.time,
    monotonicNow: () => clock.now(),
    onResult: (result) => {
      if (gathered.length === 0) setTimeout(send, RESULTS_GATHERED_MS);
      gathered.push(result);
    },
  });
  parentPort?.on("message", (message: ToCheckThread) => {
    switch (message.kind) {
      case "assign":
        for (const assignment of message.assignments) schedule.assign(assignment);
        return;
      case "drop":
        for (const monitorId of message.monitorIds) schedule.drop(monitorId);
        return;
      case "go_on":
        clock.hear(message.sentAtMs);
        schedule.goOn(message.time, message.mayStartUntilMs);
    }
  });
}
