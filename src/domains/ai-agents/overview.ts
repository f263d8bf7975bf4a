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
} from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { validationFailed } from "../../errors.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { NAMES, textOf, tokensOf } from "./attributes.ts";
import { PAIRS_MAX, RANGE_DEFAULT_MS, RANGE_MAX_MS } from "./limits.ts";
import type { Overview, Prices, RangeParameters } from "./types.ts";

export interface AgentReading {
  readonly ranges: Pick<LogRanges, "read">;
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const NANOS_PER_MILLI = 1_000_000n;

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

interface Usage {
  calls: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
  unpriced: boolean;
}

/** What agents called and what that came to. Throws VALIDATION_FAILED and what reading logs throws. */
export async function readOverview(
  { ranges, budget, now }: AgentReading,
  caller: QueryCaller,
  parameters: RangeParameters,
  { prices }: Pick<Prices, "prices">,
): Promise<Overview> {
  const range = rangeOf(parameters, now());
  const { value } = await ranges.read(caller, (logs) =>
    logs.run({
      ...{ operation: "agent_overview", plan: usagePlan(), timeRange: timeRangeOf(range) },
      ...{ maxRows: PAIRS_MAX, budget },
    }),
  );
  const agents = new Map<string, Usage & { lastMs: number }>();
  const models = new Map<string, Usage & { lastMs: number }>();
  const totals = nothing();
  for (const [agent, model, calls, errors, input, output, last] of value.rows) {
    const lastMs = Number(BigInt(String(last)) / NANOS_PER_MILLI);
    const price = Object.hasOwn(prices, String(model)) ? prices[String(model)] : undefined;
    const used: Usage = {
      ...{
        calls: Number(calls),
        errors: Number(errors),
        inputTokens: Number(input),
        outputTokens: Number(output),
      },
      costUsd:
        price === undefined
          ? null
          : (Number(input) * price.inputPerMillion + Number(output) * price.outputPerMillion) / 1_000_000,
      unpriced: price === undefined && Number(input) + Number(output) > 0,
    };
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
  const shown = ({ lastMs, ...usage }: Usage & { lastMs: number }) => {
    return { ...usage, lastSeen: new Date(lastMs).toISOString() };
  };
  return {
    from: new Date(range.fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    totals,
    agents: [...agents].map(([agent, usage]) => ({ agent, ...shown(usage) })),
    models: [...models].map(([model, usage]) => ({ model, ...shown(usage) })),
    truncated: value.rows.length === PAIRS_MAX,
  };
}

function nothing(): Usage {
  return { calls: 0, errors: 0, inputTokens: 0, outputTokens: 0, costUsd: null, unpriced: false };
}

/** What has no price makes a sum unpriced, and not smaller. */
function add(sum: Usage, used: Usage): void {
  sum.calls += used.calls;
  sum.errors += used.errors;
  sum.inputTokens += used.inputTokens;
  sum.outputTokens += used.outputTokens;
  if (used.costUsd !== null) sum.costUsd = (sum.costUsd ?? 0) + used.costUsd;
  sum.unpriced ||= used.unpriced;
}

/** By agent and model, those with most calls first. */
function usagePlan(): Relation {
  const all = agentEntries({
    ...{ agent: textOf(NAMES.agent), model: textOf(NAMES.model) },
    ...{ input: tokensOf(NAMES.inputTokens), output: tokensOf(NAMES.outputTokens) },
  });
  const used = filter(
    all,
    anyOf([
      isSaid(all, "agent"),
      call("greater", columnOf(all, "input"), literal("real", 0)),
      call("greater", columnOf(all, "output"), literal("real", 0)),
    ]),
  );
  const level = columnOf(used, "level");
  const isError = anyOf(["error", "fatal"].map((name) => call("equal", level, literal("string", name))));
  const pairs = aggregate(
    used,
    [
      { name: "agent", expression: columnOf(used, "agent") },
      { name: "model", expression: columnOf(used, "model") },
    ],
    [
      aggregateCall("calls", "count"),
      aggregateCall("errors", "countif", isError),
      aggregateCall("inputTokens", "sum", columnOf(used, "input")),
      aggregateCall("outputTokens", "sum", columnOf(used, "output")),
      aggregateCall("last", "max", columnOf(used, "ts")),
    ],
  );
  return limit(sort(pairs, [{ expression: columnOf(pairs, "calls"), direction: "descending" }]), PAIRS_MAX);
}
