import type { Sql } from "postgres";
import {
  aggregate,
  aggregateCall,
  allOf,
  anyOf,
  call,
  columnOf,
  filter,
  limit,
  literal,
  project,
  type Relation,
  sort,
} from "../../../query/index.ts";
import { NAMES, textOf } from "../../entities/agent-attributes.ts";
import { INSTRUCTIONS, SECRET } from "../../rules/packs/agent-texts.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { busyHours, hoursPlan } from "./call-rate.ts";
import { handedIndicators, handedPlan } from "./handed-indicators.ts";
import { EXCERPT_CHARS, FINDINGS_MAX, HANDED_MAX, HOURS_MAX, KNOWN_TOOLS_MS, PAIRS_MAX } from "./limits.ts";
import { type AgentReading, agentEntries, rangeOf, timeRangeOf } from "./overview.ts";
import type { Finding, RangeParameters, Security } from "./types.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** What is noticeable about agents. Throws VALIDATION_FAILED and what reading logs throws. */
export async function readSecurity(
  { sql, ranges, budget, now }: AgentReading & { readonly sql: Sql },
  caller: QueryCaller,
  parameters: RangeParameters,
): Promise<Security> {
  const range = rangeOf(parameters, now());
  const known = { fromMs: Math.max(0, range.fromMs - KNOWN_TOOLS_MS), toMs: range.toMs };
  const { value } = await ranges.read(caller, async (logs) => {
    const ask = (plan: Relation, timeRange: ReturnType<typeof timeRangeOf>, maxRows: number) =>
      logs.run({ operation: "agent_security", plan, timeRange, maxRows, budget });
    return {
      texts: (await ask(textsPlan(), timeRangeOf(range), FINDINGS_MAX)).rows,
      tools: (await ask(toolsPlan(), timeRangeOf(known), PAIRS_MAX)).rows,
      handed: (await ask(handedPlan(), timeRangeOf(range), HANDED_MAX)).rows,
      hours: (await ask(hoursPlan(), timeRangeOf(known), HOURS_MAX)).rows,
    };
  });
  const findings = [
    ...value.texts.flatMap(findingsOf),
    ...(await handedIndicators(sql, caller.organizationId, value.handed, now())),
    ...busyHours(value.hours, range.fromMs),
  ];
  for (const [agent, tool, first] of value.tools) {
    const firstMs = Number(BigInt(String(first)) / NANOS_PER_MILLI);
    if (firstMs < range.fromMs) continue;
    const at = new Date(firstMs).toISOString();
    const of = { agent: String(agent), tool: String(tool), at };
    findings.push({ kind: "new_tool", heuristic: false, ...of, entryId: null, excerpt: null });
  }
  const sorted = findings.toSorted((left, right) => (left.at < right.at ? 1 : -1));
  return {
    from: new Date(range.fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    findings: sorted.slice(0, FINDINGS_MAX),
    truncated:
      sorted.length > FINDINGS_MAX ||
      value.texts.length === FINDINGS_MAX ||
      value.handed.length === HANDED_MAX ||
      value.hours.length === HOURS_MAX,
  };
}

function findingsOf(row: readonly unknown[]): Finding[] {
  const [id, ts, agent, tool, handed, result, hasSecret, hasInstructions] = row;
  const of = {
    agent: String(agent),
    tool: String(tool) || null,
    at: new Date(Number(BigInt(String(ts)) / NANOS_PER_MILLI)).toISOString(),
    entryId: String(id),
  };
  return [
    ...(isTrue(hasSecret)
      ? [{ kind: "secret", heuristic: false, ...of, excerpt: excerptOf(String(handed)) } as const]
      : []),
    ...(isTrue(hasInstructions)
      ? [{ kind: "instructions", heuristic: true, ...of, excerpt: excerptOf(String(result)) } as const]
      : []),
  ];
}

function isTrue(value: unknown): boolean {
  return value === true || value === 1;
}

/** The beginning of a text without its secrets. */
function excerptOf(text: string): string {
  const masked = text
    .replace(/-----BEGIN [A-Z ]*PRIVATE KEY[\s\S]*/g, "***")
    .replace(new RegExp(SECRET, "g"), (secret) => `${secret.slice(0, 4)}***`);
  return masked.slice(0, EXCERPT_CHARS);
}

/** Entries of tools with a secret in what was handed to them, or instructions in what they answered; newest first. */
function textsPlan(): Relation {
  const all = agentEntries({
    ...{ agent: textOf(NAMES.agent), tool: textOf(NAMES.tool) },
    ...{ handed: textOf(NAMES.arguments), result: textOf(NAMES.result) },
  });
  const matches = (name: string, pattern: string) =>
    call("matchesRegex", columnOf(all, name), literal("string", pattern));
  const [hasSecret, hasInstructions] = [matches("handed", SECRET), matches("result", INSTRUCTIONS)];
  const found = filter(all, anyOf([hasSecret, hasInstructions]));
  const rows = project(found, [
    ...["id", "ts", "agent", "tool", "handed", "result"].map((name) => {
      return { name, expression: columnOf(found, name) };
    }),
    { name: "hasSecret", expression: hasSecret },
    { name: "hasInstructions", expression: hasInstructions },
  ]);
  return limit(sort(rows, [{ expression: columnOf(rows, "ts"), direction: "descending" }]), FINDINGS_MAX);
}

/** When each agent called each tool first. */
function toolsPlan(): Relation {
  const all = agentEntries({ agent: textOf(NAMES.agent), tool: textOf(NAMES.tool) });
  const called = filter(
    all,
    allOf(["agent", "tool"].map((name) => call("notEqual", columnOf(all, name), literal("string", "")))),
  );
  const pairs = aggregate(
    called,
    ["agent", "tool"].map((name) => ({ name, expression: columnOf(called, name) })),
    [aggregateCall("first", "min", columnOf(called, "ts"))],
  );
  return limit(sort(pairs, [{ expression: columnOf(pairs, "first"), direction: "descending" }]), PAIRS_MAX);
}
