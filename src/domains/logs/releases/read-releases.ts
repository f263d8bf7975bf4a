import {
  aggregate,
  aggregateCall,
  attribute,
  call,
  columnOf,
  type Expression,
  filter,
  literal,
  type QueryBudget,
  scan,
  timeBucket,
} from "../../../../query/index.ts";
import type { LogRanges } from "../../../archive/reading/log-ranges.ts";
import type { QueryCaller } from "../../../storage/query-runner.ts";
import { RELEASES_MAX_COUNT, RELEASES_READ_MAX } from "./limits.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** Where the names of a release and of an environment stand. Source: OpenTelemetry semantic conventions, service and deployment. */
const VERSION = ["service.version"] as const;
const ENVIRONMENTS = ["deployment.environment.name", "deployment.environment"] as const;

/** A release of a service whose first entry of a time came within the later part of it. */
interface Release {
  readonly service: string;
  readonly version: string;
  /** Empty where no entry names one. */
  readonly environment: string;
  /** The one whose entries came last before it; null where the service had none in that time. */
  readonly previousVersion: string | null;
  readonly firstSeenMs: number;
  /** Its entries of that time. */
  readonly count: number;
  /** KQL that finds them. */
  readonly query: string;
}

interface Seen extends Omit<Release, "previousVersion" | "query"> {
  readonly lastSeenMs: number;
}

interface ReleaseDependencies {
  readonly ranges: Pick<LogRanges, "read">;
  readonly budget: QueryBudget;
}

/**
 * Which releases of services came in between, by the attributes of their entries: those that nothing was said of before `fromMs`, the
 * latest first. Throws what `LogRanges.read` throws.
 */
export async function readReleases(
  { ranges, budget }: ReleaseDependencies,
  caller: QueryCaller,
  { beforeMs, fromMs, toMs }: { readonly beforeMs: number; readonly fromMs: number; readonly toMs: number },
): Promise<Release[]> {
  const named = filter(scan("logs"), call("notEqual", textOf(VERSION), literal("string", "")));
  const millis = timeBucket(columnOf(named, "ts"), 0n, NANOS_PER_MILLI);
  const plan = aggregate(
    named,
    [
      { name: "service", expression: columnOf(named, "service") },
      { name: "version", expression: textOf(VERSION) },
      { name: "environment", expression: textOf(ENVIRONMENTS) },
    ],
    [
      aggregateCall("first", "min", millis),
      aggregateCall("last", "max", millis),
      aggregateCall("n", "count"),
    ],
  );
  const timeRange = { from: BigInt(beforeMs) * NANOS_PER_MILLI, to: BigInt(toMs) * NANOS_PER_MILLI };
  const { value } = await ranges.read(caller, (logs) =>
    logs.run({ operation: "releases", plan, timeRange, maxRows: RELEASES_READ_MAX, budget }),
  );
  const seen = value.rows.map(
    ([service, version, environment, first, last, n]): Seen => ({
      ...{ service: String(service), version: String(version), environment: String(environment) },
      ...{ firstSeenMs: Number(first), lastSeenMs: Number(last), count: Number(n) },
    }),
  );
  return seen
    .filter(({ firstSeenMs }) => firstSeenMs >= fromMs)
    .toSorted((one, other) => other.firstSeenMs - one.firstSeenMs || (nameOf(one) < nameOf(other) ? -1 : 1))
    .slice(0, RELEASES_MAX_COUNT)
    .map(({ lastSeenMs: _last, ...release }) => ({
      ...release,
      previousVersion: previousOf(release, seen),
      query: queryOf(release),
    }));
}

/** The release of the service that had entries before this one had, the one that came last. */
function previousOf(
  { service, environment, firstSeenMs }: Omit<Seen, "lastSeenMs">,
  seen: readonly Seen[],
): string | null {
  const before = seen.filter(
    (other) =>
      other.service === service && other.environment === environment && other.firstSeenMs < firstSeenMs,
  );
  const [last] = before.toSorted((one, other) => other.firstSeenMs - one.firstSeenMs);
  return last?.version ?? null;
}

function queryOf({ service, version }: Pick<Release, "service" | "version">): string {
  return `logs | where service == ${JSON.stringify(service)} and tostring(attrs.service.version) == ${JSON.stringify(version)}`;
}

function nameOf({ service, version, environment }: Seen): string {
  return JSON.stringify([service, version, environment]);
}

/** The first of the attributes that an entry has. */
function textOf(names: readonly string[]): Expression {
  return names
    .map((name) => call("tostring", attribute("attrs", ...name.split("."))))
    .reduceRight((otherwise, text) =>
      call("iff", call("equal", text, literal("string", "")), otherwise, text),
    );
}
