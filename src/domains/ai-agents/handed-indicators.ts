import type { Sql } from "postgres";
import {
  aggregate,
  aggregateCall,
  call,
  columnOf,
  filter,
  limit,
  literal,
  observableCandidates,
  type Relation,
  sort,
} from "../../../query/index.ts";
import { NAMES, textOf } from "../../entities/agent-attributes.ts";
import { matchIndicators } from "../../entities/indicators/match-indicators.ts";
import { observableOf } from "../../entities/observables.ts";
import { HANDED_MAX } from "./limits.ts";
import { agentEntries } from "./overview.ts";
import type { Finding } from "./types.ts";

const NANOS_PER_MILLI = 1_000_000n;
/** Of every batch that is looked for at all. */
const ANY_REVISION = 2n ** 63n - 1n;

/** What agents handed to tools that looks like an address, a domain or a hash: it, agent, tool, when last, and an entry. */
export function handedPlan(): Relation {
  const all = agentEntries({
    ...{ agent: textOf(NAMES.agent), tool: textOf(NAMES.tool), handed: textOf(NAMES.arguments) },
  });
  const some = filter(all, call("notEqual", columnOf(all, "handed"), literal("string", "")));
  const found = aggregate(
    some,
    [
      {
        name: "candidate",
        expression: observableCandidates(columnOf(some, "handed"), literal("dynamic", "[]")),
      },
      ...["agent", "tool"].map((name) => ({ name, expression: columnOf(some, name) })),
    ],
    [
      aggregateCall("last", "max", columnOf(some, "ts")),
      aggregateCall("sample", "max", columnOf(some, "id")),
    ],
  );
  return limit(sort(found, [{ expression: columnOf(found, "last"), direction: "descending" }]), HANDED_MAX);
}

/** Those of the plan's rows that are indicators which the organisation looks for. */
export async function handedIndicators(
  sql: Sql,
  organizationId: number,
  rows: readonly (readonly unknown[])[],
  nowMs: number,
): Promise<Finding[]> {
  const seen = rows.flatMap(([candidate, agent, tool, last, sample]) => {
    const indicator = observableOf(String(candidate));
    if (indicator === null) return [];
    const lastMs = Number(BigInt(String(last)) / NANOS_PER_MILLI);
    return {
      ...{ indicator, n: 1, firstMs: lastMs, lastMs, sampleId: BigInt(String(sample)) },
      where: { type: "ai_agent", key: String(agent) } as const,
      tool: String(tool) || null,
    };
  });
  const hits = await matchIndicators(sql, organizationId, seen, { revision: ANY_REVISION, ms: nowMs });
  return hits.map(({ entityKey, found, lastMs, sampleId }) => ({
    ...({ kind: "indicator", heuristic: false, agent: entityKey } as const),
    tool: seen.find((one) => String(one.sampleId) === sampleId)?.tool ?? null,
    at: new Date(lastMs).toISOString(),
    entryId: sampleId,
    excerpt: found,
  }));
}
