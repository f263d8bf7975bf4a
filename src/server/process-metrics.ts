import { Counter, Gauge, type Registry } from "prom-client";

/** Exceptions and rejections that nobody caught; the server stops after the first. */
export type UncaughtFaults = Counter<"kind">;

export function uncaughtFaults(registry: Registry): UncaughtFaults {
  return new Counter({
    name: "obs_uncaught_faults_total",
    help: "Exceptions and rejections that nobody caught, by kind (exception, rejection); the server stops after one.",
    labelNames: ["kind"],
    registers: [registry],
  });
}

/** Those of the customary process metrics that are right on this runtime; its event loop lag, for one, reads 0. */
export function registerProcessMetrics(registry: Registry, collectors: (() => void)[]): void {
  const registers = [registry];
  const residentBytes = new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of the server process, without the embedded stores.",
    registers,
  });
  const cpuSec = new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of the server process.",
    registers,
  });
  const startedSec = new Gauge({
    name: "process_start_time_seconds",
    help: "Start of the server process.",
    registers,
  });
  startedSec.set(performance.timeOrigin / 1000);
  collectors.push(() => {
    const { user, system } = process.cpuUsage();
    residentBytes.set(process.memoryUsage.rss());
    cpuSec.reset();
    cpuSec.inc((user + system) / 1e6);
  });
}
