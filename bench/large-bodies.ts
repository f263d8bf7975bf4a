/**
 * What large bodies cost others: each case in a server of its own, beside somebody of another organisation who asks who they are a
 * hundred times a second, and the same in the same run beside ordinary ingest. Prints for how long the server's loop was held, by
 * the clock and by what its thread computed, others' times, peak memory above idle, and the answers. Linux only.
 * Usage: bun bench/large-bodies.ts [case...]. Appends lines to bench/results/large-bodies.jsonl.
 */
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeToken } from "../test/harness/server-process.ts";
import { startBenchServer } from "./ingest/server.ts";
import { CASE_NAMES, caseOf } from "./large-bodies/cases.ts";

/** Idle memory is what is left some time after the start. */
const SETTLE_MS = 2_000;

interface Measured {
  readonly name: string;
  readonly longestHoldMs: number;
  readonly longestHoldCpuMs: number;
  readonly othersP50Ms: number;
  readonly othersP99Ms: number;
  readonly othersMaxMs: number;
  readonly idleMiB: number;
  readonly peakAboveIdleMiB: number;
  readonly serverCpuSeconds: number;
  readonly sent: string;
}

const names = process.argv.slice(2);
const results = join(import.meta.dir, "results");
mkdirSync(results, { recursive: true });
process.stdout.write(
  "case              held ms   of it CPU   others p50   p99   max   MiB above idle   server CPU s   answers\n",
);
const [reference = "", ...cases] = CASE_NAMES;
for (const name of [reference, ...(names.length > 0 ? names : cases)]) {
  const measured = await measure(name);
  const columns = [
    measured.longestHoldMs,
    measured.longestHoldCpuMs,
    measured.othersP50Ms,
    measured.othersP99Ms,
    measured.othersMaxMs,
    measured.peakAboveIdleMiB,
    measured.serverCpuSeconds,
  ].map((value) => value.toFixed(1).padStart(9));
  process.stdout.write(`${name.padEnd(16)}${columns.join("")}   ${measured.sent}\n`);
  const line = { at: new Date().toISOString(), ...measured };
  appendFileSync(join(results, "large-bodies.jsonl"), `${JSON.stringify(line)}\n`);
}

async function measure(name: string): Promise<Measured> {
  const holdsFile = join(tmpdir(), `obs-loop-holds-${process.pid}`);
  const server = await startBenchServer({
    preload: join(import.meta.dir, "large-bodies/loop-holds.ts"),
    env: { LOOP_HOLDS_FILE: holdsFile },
  });
  try {
    if (caseOf(name).isRuled) await makeRule(server.url, server.token);
    const otherToken = await makeToken(server.url);
    const sender = start(["large-bodies/sender.ts", server.url, server.token, name]);
    await sender.line();
    await Bun.sleep(SETTLE_MS);
    writeFileSync(holdsFile, "");
    // Begins to count the peak anew.
    writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
    const idleMiB = memoryMiB(server.pid, "VmRSS");
    const cpuBefore = cpuSeconds(server.pid);
    const others = start(["large-bodies/others.ts", server.url, otherToken]);
    sender.go();
    const sent = await sender.line();
    others.go();
    const tookMs: number[] = JSON.parse(await others.line());
    // What was noted last is written.
    await Bun.sleep(SETTLE_MS);
    tookMs.sort((one, other) => one - other);
    const holds = readFileSync(holdsFile, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line): { heldMs: number; cpuMs: number } => JSON.parse(line));
    return {
      name,
      longestHoldMs: Math.max(0, ...holds.map(({ heldMs }) => heldMs)),
      longestHoldCpuMs: Math.max(0, ...holds.map(({ cpuMs }) => cpuMs)),
      othersP50Ms: tookMs[Math.floor(tookMs.length / 2)] ?? 0,
      othersP99Ms: tookMs[Math.floor(tookMs.length * 0.99)] ?? 0,
      othersMaxMs: tookMs.at(-1) ?? 0,
      idleMiB,
      peakAboveIdleMiB: memoryMiB(server.pid, "VmHWM") - idleMiB,
      serverCpuSeconds: cpuSeconds(server.pid) - cpuBefore,
      sent,
    };
  } finally {
    await server.stop();
    rmSync(server.dataDirectory, { recursive: true, force: true });
    rmSync(holdsFile, { force: true });
  }
}

/** A program of this benchmark: it says a line when it is ready, begins, and says another one at its end. */
function start([script = "", ...args]: readonly string[]) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), ...args], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let output = "";
  return {
    go: () => child.stdin.end(),
    line: async (): Promise<string> => {
      while (!output.includes("\n")) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`${script} ended early`);
        output += decoder.decode(value, { stream: true });
      }
      const end = output.indexOf("\n");
      const line = output.slice(0, end);
      output = output.slice(end + 1);
      return line;
    },
  };
}

async function makeRule(url: string, token: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/ingest/rules`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "bench", action: "mask", patterns: ["card", "email"] }),
  });
  if (response.status !== 201) throw new Error(`no rule: ${await response.text()}`);
}

function memoryMiB(pid: number, field: "VmRSS" | "VmHWM"): number {
  const kib = new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}

/** Of the server alone, all its threads. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  const TICKS_PER_SECOND = 100;
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
