import { readdirSync, readFileSync } from "node:fs";

/** What the kernel has counted for one process. */
interface ProcessUsage {
  readonly pid: number;
  /** `server`, `clickhouse`, `postgres` or `other`, by the command line. */
  readonly role: string;
  readonly cpuSeconds: number;
  readonly peakMemoryBytes: number;
}

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The process and everything it started, as it is now. Linux only. */
export function usageOfTree(rootPid: number): ProcessUsage[] {
  const parents = new Map(listPids().flatMap((pid) => parentOf(pid)));
  const belongs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at))
      if (at === rootPid) return true;
    return false;
  };
  return [...parents.keys()].filter(belongs).flatMap((pid) => usageOf(pid, rootPid));
}

/** Memory in MiB. */
export interface TreeMemory {
  /** What the programs of each role have asked for. */
  readonly own: readonly { readonly role: string; readonly processes: number; readonly mib: number }[];
  /** Program files and memory that processes share, each page counted once; the kernel can take back the files. */
  readonly commonMib: number;
}

/**
 * The memory of the process and everything it started, as it is now. Pages that processes outside hold as well count in
 * full, so that the figure does not depend on who else runs.
 */
export function memoryOfTree(rootPid: number): TreeMemory {
  const own = new Map<string, { processes: number; kib: number }>();
  const common = new Map<string, number>();
  for (const { pid, role } of usageOfTree(rootPid)) {
    const mappings = mappingsOf(pid);
    const sum = own.get(role);
    own.set(role, { processes: (sum?.processes ?? 0) + 1, kib: (sum?.kib ?? 0) + mappings.anonymousKib });
    for (const [name, kib] of mappings.common) common.set(name, Math.max(common.get(name) ?? 0, kib));
  }
  const commonKib = [...common.values()].reduce((sum, kib) => sum + kib, 0);
  return {
    own: [...own].map(([role, { processes, kib }]) => ({ role, processes, mib: Math.round(kib / 1024) })),
    commonMib: Math.round(commonKib / 1024),
  };
}

/** What is resident of a process: of its own, and of each thing that others may hold too. */
function mappingsOf(pid: number): { anonymousKib: number; common: Map<string, number> } {
  const common = new Map<string, number>();
  let anonymousKib = 0;
  let name = "";
  let residentKib = 0;
  for (const line of (readProc(pid, "smaps") ?? "").split("\n")) {
    const head = /^[0-9a-f]+-[0-9a-f]+ \S+ (\S+) \S+ (\d+) *(.*)$/.exec(line);
    // The offset tells mappings of one file apart, which processes have in common piece by piece.
    if (head !== null) name = `${head[3]}@${head[1]}`;
    const [, field, kib] = /^(Rss|Anonymous): +(\d+)/.exec(line) ?? [];
    if (field === "Rss") residentKib = Number(kib);
    if (field !== "Anonymous") continue;
    anonymousKib += Number(kib);
    if (residentKib > Number(kib)) common.set(name, (common.get(name) ?? 0) + residentKib - Number(kib));
  }
  return { anonymousKib, common };
}

/** CPU seconds per role between two looks, and the peak memory at the second. */
export function usageBetween(
  before: readonly ProcessUsage[],
  after: readonly ProcessUsage[],
): Record<string, { cpuSeconds: number; peakMemoryMiB: number }> {
  const usage: Record<string, { cpuSeconds: number; peakMemoryMiB: number }> = {};
  for (const { pid, role, cpuSeconds, peakMemoryBytes } of after) {
    const start = before.find((process) => process.pid === pid)?.cpuSeconds ?? 0;
    usage[role] ??= { cpuSeconds: 0, peakMemoryMiB: 0 };
    const sum = usage[role];
    sum.cpuSeconds += cpuSeconds - start;
    sum.peakMemoryMiB += Math.round(peakMemoryBytes / 1024 / 1024);
  }
  return usage;
}

function listPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Empty for a process that ended while we looked. */
function parentOf(pid: number): [number, number][] {
  const fields = statOf(pid);
  return fields === null ? [] : [[pid, Number(fields[1])]];
}

function usageOf(pid: number, rootPid: number): ProcessUsage[] {
  const fields = statOf(pid);
  if (fields === null) return [];
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])];
  const status = readProc(pid, "status") ?? "";
  const peakKib = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
  return [
    {
      pid,
      role: pid === rootPid ? "server" : roleOf(readProc(pid, "cmdline") ?? ""),
      cpuSeconds: (userTicks + systemTicks) / TICKS_PER_SECOND,
      peakMemoryBytes: peakKib * 1024,
    },
  ];
}

function roleOf(commandLine: string): string {
  return /clickhouse/.test(commandLine) ? "clickhouse" : /postgres/.test(commandLine) ? "postgres" : "other";
}

/** The fields of /proc/PID/stat after the command's name, which may hold spaces: state, parent, ... */
function statOf(pid: number): string[] | null {
  const stat = readProc(pid, "stat");
  return stat === null ? null : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return null;
  }
}
