import {
  aggregate,
  aggregateCall,
  allOf,
  attribute,
  call,
  columnOf,
  filter,
  limit,
  literal,
  scan,
  sort,
} from "../../../query/index.ts";
import { NAME_ATTRIBUTE, OWN_METRICS, VALUE_ATTRIBUTE } from "../../rules/metrics/source.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { NAMES_DEFAULT, RANGE_DEFAULT_MS, SERVICES_MAX } from "./limits.ts";
import type { MetricDependencies } from "./read-series.ts";
import type { MetricName, NamesParameters } from "./types.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** What there are series of: what everybody has, log metrics, and names that entries carry, newest first. Throws what reading logs throws. */
export async function readMetricNames(
  deps: MetricDependencies,
  caller: QueryCaller,
  { since, limit: max = NAMES_DEFAULT }: NamesParameters,
): Promise<MetricName[]> {
  const { organizationId } = caller;
  const sinceMs = since === undefined ? deps.now() - RANGE_DEFAULT_MS : Date.parse(since);
  const counted = await askPostgres(() =>
    inOrganization(
      deps.sql,
      organizationId,
      (tx) => tx<{ name: string }[]>`
        SELECT name FROM log_metrics WHERE organization_id = ${organizationId} ORDER BY id LIMIT ${max}`,
    ),
  );
  const carried = await readCarriedNames(deps, caller, sinceMs, max);
  const known = new Map<string, MetricName>();
  const nothing = { services: [], lastSeen: null };
  for (const { name, kind } of OWN_METRICS) known.set(name, { name, kind, ...nothing });
  for (const { name } of counted)
    if (!known.has(name)) known.set(name, { name, kind: "log_metric", ...nothing });
  for (const metric of carried) if (!known.has(metric.name)) known.set(metric.name, metric);
  return [...known.values()].slice(0, max);
}

async function readCarriedNames(
  { ranges, budget }: MetricDependencies,
  caller: QueryCaller,
  sinceMs: number,
  max: number,
): Promise<MetricName[]> {
  const logs = scan("logs");
  const name = call("tostring", attribute("attrs", ...NAME_ATTRIBUTE));
  const carrying = filter(
    logs,
    allOf([
      call("notEqual", name, literal("string", "")),
      call("isfinite", call("todouble", attribute("attrs", ...VALUE_ATTRIBUTE))),
    ]),
  );
  const names = aggregate(
    carrying,
    [{ name: "name", expression: name }],
    [
      aggregateCall("last", "max", columnOf(carrying, "ts")),
      aggregateCall(
        "services",
        "make_set",
        columnOf(carrying, "service"),
        literal("long", BigInt(SERVICES_MAX)),
      ),
    ],
  );
  const newest = limit(sort(names, [{ expression: columnOf(names, "last"), direction: "descending" }]), max);
  const timeRange = { from: BigInt(sinceMs) * NANOS_PER_MILLI, to: null };
  const { value } = await ranges.read(caller, (logs) =>
    logs.run({ operation: "metric_names", plan: newest, timeRange, maxRows: max, budget }),
  );
  return value.rows.map(([name, last, services]) => ({
    name: String(name),
    kind: "attribute",
    services: servicesIn(services),
    lastSeen: new Date(Number(BigInt(String(last)) / NANOS_PER_MILLI)).toISOString(),
  }));
}

function servicesIn(cell: unknown): string[] {
  const listed: unknown = typeof cell === "string" ? JSON.parse(cell) : cell;
  return Array.isArray(listed) ? listed.map(String).filter((service) => service !== "") : [];
}
