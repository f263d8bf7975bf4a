/**
 * Runs in the process of a measured server, before the server does: notes for how long the event loop answered nobody, and how
 * much of that the thread computed. Writes a line of JSON for each hold to the file that LOOP_HOLDS_FILE names.
 */
import { appendFile } from "node:fs";

/** Between two looks at the clock; a hold shows with this much too little. */
const EVERY_MS = 2;
/** Shorter ones are ordinary work. */
const MIN_MS = 8;
const WRITE_EVERY_MS = 500;

const file = process.env.LOOP_HOLDS_FILE;
const lines: string[] = [];
let lastMs = performance.now();
let lastCpu = process.threadCpuUsage();

function look(): void {
  const now = performance.now();
  const cpu = process.threadCpuUsage();
  const heldMs = now - lastMs - EVERY_MS;
  if (heldMs >= MIN_MS) {
    const cpuMs = (cpu.user + cpu.system - lastCpu.user - lastCpu.system) / 1000;
    lines.push(`${JSON.stringify({ heldMs, cpuMs })}\n`);
  }
  lastMs = now;
  lastCpu = cpu;
  setTimeout(look, EVERY_MS).unref();
}

if (file !== undefined) {
  look();
  setInterval(() => {
    if (lines.length > 0) appendFile(file, lines.splice(0).join(""), () => undefined);
  }, WRITE_EVERY_MS).unref();
}
