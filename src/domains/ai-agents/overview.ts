import {
  aggregate,
  aggregateCall,
  anyOf,
  call,
  columnOf,
  type Expression,
  extend,
  filter,
  limit,
  literal,
  type QueryBudget,
  type Relation,
  scan,
  sort,
  timeBucket,
} from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { NAMES, textOf } from "../../entities/agent-attributes.ts";
import { validationFailed } from "../../errors.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { PAIRS_MAX, RANGE_DEFAULT_MS, RANGE_MAX_MS, USER_DAYS_MAX } from "./limits.ts";
import type { Overview, Prices, RangeParameters } from "./types.ts";
import { add, nothing, priceOf, tokenColumns, type Usage, usageCalls, usageOf } from "./usage.ts";

export interface AgentReading {
  readonly ranges: Pick<LogRanges, "read">;
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const NANOS_PER_MILLI = 1_000_000n;
const DAY_MS = 86_400_000;
const NANOS_PER_DAY = 86_400_000_000_000n;

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The last day without another range. Throws VALIDATION_FAILED. */
export function rangeOf({ fromMs, toMs }: RangeParameters, nowMs: number): Range {
  const to = toMs === undefined ? nowMs : Number(toMs);
  const from = fromMs === undefined ? to - RANGE_DEFAULT_MS : Number(fromMs);
  const refuse = (message: string): never => {
    throw validationFailed([{ path: "/fromMs", code: "custom", message }]);
  };
  if (to > 253_402_300_799_000)
    throw validationFailed([{ path: "/toMs", code: "custom", message: "is beyond the year 9999" }]);
  if (from > to) return refuse("is later than `toMs`");
  return to - from > RANGE_MAX_MS
    ? refuse("is more than 31 days before `toMs`")
    : { fromMs: Math.max(0, from), toMs: to };
}

export function timeRangeOf({ fromMs, toMs }: Range) {
  return { from: BigInt(fromMs) * NANOS_PER_MILLI, to: BigInt(toMs) * NANOS_PER_MILLI };
}

/** Entries of agents, with what they carry as columns of these names. */
export function agentEntries(columns: Readonly<Record<string, Expression>>): Relation {
  const assignments = Object.entries(columns).map(([name, expression]) => ({ name, expression }));
  return extend(scan("logs"), assignments);
}

const isSaid = (relation: Relation, name: string): Expression =>
  call("notEqual", columnOf(relation, name), literal("string", ""));

/** What agents called and what that came to. Throws VALIDATION_FAILED and what reading logs throws. */
export async function readOverview(
  { ranges, budget, now }: AgentReading,
  caller: QueryCaller,
  parameters: RangeParameters,
  { prices, version }: Pick<Prices, "prices" | "version">,
): Promise<Overview> {
  const range = rangeOf(parameters, now());
  const { pairs, users } = (
    await ranges.read(caller, async (logs) => {
      const ask = async (plan: Relation, maxRows: number) =>
        (
          await logs.run({
            ...{ operation: "agent_overview", plan, timeRange: timeRangeOf(range) },
            ...{ maxRows, budget },
          })
        ).rows;
      return { pairs: await ask(pairsPlan(), PAIRS_MAX), users: await ask(usersPlan(), USER_DAYS_MAX) };
    })
  ).value;
  const agents = new Map<string, Usage & { lastMs: number }>();
  const models = new Map<string, Usage & { lastMs: number }>();
  const totals = nothing();
  for (const [agent, model, last, ...counts] of pairs) {
    const lastMs = Number(BigInt(String(last)) / NANOS_PER_MILLI);
    const used = usageOf(counts, priceOf(prices, String(model)));
    add(totals, used);
    for (const [of, name] of [
      [agents, String(agent)],
      [models, String(model)],
    ] as const) {
      if (name === "") continue;
      const known = of.get(name) ?? { ...nothing(), lastMs };
      add(known, used);
      known.lastMs = Math.max(known.lastMs, lastMs);
      of.set(name, known);
    }
  }
  const userDays = new Map<string, { user: string; day: string; usage: Usage }>();
  for (const [user, model, since, ...counts] of users) {
    const day = new Date(Number(since) * DAY_MS).toISOString().slice(0, 10);
    const id = `${day}\t${String(user)}`;
    const known = userDays.get(id) ?? { user: String(user), day, usage: nothing() };
    add(known.usage, usageOf(counts, priceOf(prices, String(model))));
    userDays.set(id, known);
  }
  const shown = ({ lastMs, ...usage }: Usage & { lastMs: number }) => {
    return { ...usage, lastSeen: new Date(lastMs).toISOString() };
  };
  return {
    from: new Date(range.fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    priceVersion: version,
    totals,
    agents: [...agents].map(([agent, usage]) => ({ agent, ...shown(usage) })),
    models: [...models].map(([model, usage]) => ({ model, ...shown(usage) })),
    userDays: [...userDays.values()].map(({ usage, ...of }) => ({ ...of, ...usage })),
    truncated: pairs.length === PAIRS_MAX || users.length === USER_DAYS_MAX,
  };
}

/** By agent and model, those with most calls first: agent, model, when last, and what `usageOf` reads. */
function pairsPlan(): Relation {
  const used = usedEntries();
  const pairs = aggregate(
    used,
    ["agent", "model"].map((name) => ({ name, expression: columnOf(used, name) })),
    [aggregateCall("last", "max", columnOf(used, "ts")), ...usageCalls(used)],
  );
  return limit(sort(pairs, [{ expression: columnOf(pairs, "calls"), direction: "descending" }]), PAIRS_MAX);
}

/** By day of UTC, user and model, the latest days first: user, model, days since 1970, and what `usageOf` reads. */
function usersPlan(): Relation {
  const used = usedEntries();
  const named = filter(used, isSaid(used, "user"));
  const days = aggregate(
    named,
    [
      ...["user", "model"].map((name) => ({ name, expression: columnOf(named, name) })),
      { name: "day", expression: timeBucket(columnOf(named, "ts"), 0n, NANOS_PER_DAY) },
    ],
    usageCalls(named),
  );
  const order = ["day", "calls"].map((name) => {
    return { expression: columnOf(days, name), direction: "descending" as const };
  });
  return limit(sort(days, order), USER_DAYS_MAX);
}

function usedEntries(): Relation {
  const all = agentEntries({
    ...{ agent: textOf(NAMES.agent), model: textOf(NAMES.model), user: textOf(NAMES.user) },
    ...tokenColumns(),
  });
  const isCounted = (name: string) => call("greater", columnOf(all, name), literal("real", 0));
  return filter(all, anyOf([isSaid(all, "agent"), isCounted("input"), isCounted("output")]));
}
