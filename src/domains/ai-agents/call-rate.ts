import {
  aggregate,
  aggregateCall,
  call,
  columnOf,
  filter,
  limit,
  literal,
  type Relation,
  sort,
  timeBucket,
} from "../../../query/index.ts";
import { NAMES, textOf } from "../../entities/agent-attributes.ts";
import { HOURS_MAX, RATE_MIN_CALLS, RATE_MIN_HOURS, RATE_MIN_RATIO } from "./limits.ts";
import { agentEntries } from "./overview.ts";
import type { Finding } from "./types.ts";

const HOUR_MS = 3_600_000;
const NANOS_PER_HOUR = 3_600_000_000_000n;

/** How often each agent called something in each hour: agent, hours since 1970, calls; the latest hours first. */
export function hoursPlan(): Relation {
  const all = agentEntries({ agent: textOf(NAMES.agent) });
  const named = filter(all, call("notEqual", columnOf(all, "agent"), literal("string", "")));
  const hours = aggregate(
    named,
    [
      { name: "agent", expression: columnOf(named, "agent") },
      { name: "hour", expression: timeBucket(columnOf(named, "ts"), 0n, NANOS_PER_HOUR) },
    ],
    [aggregateCall("calls", "count")],
  );
  return limit(sort(hours, [{ expression: columnOf(hours, "hour"), direction: "descending" }]), HOURS_MAX);
}

/** Hours from a moment on in which an agent called far more than in its middle one: judged by the count alone. */
export function busyHours(rows: readonly (readonly unknown[])[], fromMs: number): Finding[] {
  const hours = rows.map(([agent, hour, calls]) => ({
    agent: String(agent),
    atMs: Number(hour) * HOUR_MS,
    calls: Number(calls),
  }));
  return [...Map.groupBy(hours, ({ agent }) => agent)].flatMap(([agent, own]) => {
    if (own.length < RATE_MIN_HOURS) return [];
    const sorted = own.map(({ calls }) => calls).toSorted((left, right) => left - right);
    const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
    return own
      .filter(
        ({ atMs, calls }) => atMs >= fromMs && calls >= RATE_MIN_CALLS && calls >= RATE_MIN_RATIO * middle,
      )
      .map(({ atMs, calls }) => ({
        ...({ kind: "call_rate", heuristic: true, agent, tool: null, entryId: null } as const),
        at: new Date(atMs).toISOString(),
        excerpt: `${calls} calls in an hour; in the middle one of ${own.length} hours ${middle}`,
      }));
  });
}
