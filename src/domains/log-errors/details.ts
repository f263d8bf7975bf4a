import type { Sql } from "postgres";
import { scopesSatisfy } from "../../access/principal.ts";
import { ApiError, DependencyError } from "../../errors.ts";
import { callerOf } from "../../http/query-caller.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { SAMPLES_MAX } from "./finding/limits.ts";
import { findGroup, type GroupPlace, membersOf, placesOf } from "./group-store.ts";
import { exceptionsOf } from "./grouping/group-error.ts";
import { DAYS_SHOWN, HOURS_SHOWN } from "./limits.ts";
import { lastCounts, readHours } from "./read-hours.ts";
import type { ErrorGroupDetails } from "./types.ts";

/** An entry of the log as its own route answers it. */
interface LogEntry {
  readonly ts: string;
  readonly level: string | null;
  readonly service: string | null;
  readonly host: string | null;
  readonly message: string;
  readonly traceId: string | null;
  readonly attrs: Readonly<Record<string, unknown>>;
}

export interface DetailDependencies {
  readonly sql: Sql;
  readonly signals: { readonly endpoint: ClickHouseEndpoint };
  /** The entry of an id; null for one that is no longer kept. */
  readonly readEntry: (caller: QueryCaller, id: bigint) => Promise<LogEntry | null>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const DAY_MS = 86_400_000;

/** A group with everything that is known of it. Throws NOT_FOUND, and a DependencyError when its counts cannot be read. */
export async function readDetails(
  { sql, signals, readEntry, now }: DetailDependencies,
  context: AuthenticatedContext,
  id: number,
): Promise<ErrorGroupDetails> {
  const { organizationId } = context.principal;
  const { stored, members, places } = await askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => {
      const stored = await findGroup(tx, organizationId, id);
      const members = await membersOf(tx, organizationId, id);
      const ids = members.map((member) => member.id);
      return { stored, members, places: await placesOf(tx, organizationId, ids) };
    }),
  );
  const nowMs = now();
  const range = {
    fromMs: Math.floor(nowMs / DAY_MS) * DAY_MS - (DAYS_SHOWN - 1) * DAY_MS,
    toMs: nowMs + DAY_MS,
  };
  const fingerprints = members.map(({ fingerprint }) => fingerprint);
  const { signal } = context.request;
  const [hours, samples] = await Promise.all([
    readHours(signals.endpoint, organizationId, fingerprints, range, signal),
    readSamples(
      readEntry,
      context,
      members.flatMap(({ sampleIds }) => sampleIds),
    ),
  ]);
  const newest = samples.found.find(({ entry }) => entry !== null)?.entry ?? null;
  return {
    ...stored.group,
    hours: lastCounts(hours, nowMs, 1, HOURS_SHOWN),
    days: lastCounts(hours, nowMs, 24, DAYS_SHOWN),
    releases: shownPlaces(places, "release"),
    environments: shownPlaces(places, "environment"),
    samples: samples.found.map(({ id: entryId, entry }) => ({ id: entryId, entry: shownEntry(entry) })),
    samplesUnavailable: samples.unavailable,
    exceptions: newest === null ? [] : exceptionsIn(newest),
    merged: members.slice(1).map((member) => ({ id: member.id, title: member.title, count: member.count })),
  };
}

interface Samples {
  readonly found: readonly { readonly id: string; readonly entry: LogEntry | null }[];
  readonly unavailable: string | null;
}

/** The newest entries, newest first. Whoever may not read logs, or for whom they do not answer, is told so. */
async function readSamples(
  readEntry: DetailDependencies["readEntry"],
  context: AuthenticatedContext,
  ids: readonly string[],
): Promise<Samples> {
  const newest = ids.toSorted((left, right) => (BigInt(left) < BigInt(right) ? 1 : -1)).slice(0, SAMPLES_MAX);
  const without = (unavailable: string): Samples => ({
    found: newest.map((id) => ({ id, entry: null })),
    unavailable,
  });
  if (!scopesSatisfy(context.principal.scopes, "logs:read"))
    return without("The token lacks the scope logs:read.");
  const caller = callerOf(context);
  const found: { id: string; entry: LogEntry | null }[] = [];
  try {
    for (const id of newest) found.push({ id, entry: await readEntry(caller, BigInt(id)) });
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof DependencyError)) throw error;
    context.log.warn({ err: error }, "entries of an error group could not be read");
    return without("The log store does not answer.");
  }
  return { found, unavailable: null };
}

function shownEntry(entry: LogEntry | null): ErrorGroupDetails["samples"][number]["entry"] {
  if (entry === null) return null;
  const { ts, level, service, host, message, traceId } = entry;
  return { ts, level, service, host, message, traceId };
}

function exceptionsIn({ service, level, message, attrs }: LogEntry): ErrorGroupDetails["exceptions"] {
  const texts = Object.entries(attrs).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : (JSON.stringify(value) ?? ""),
  ]);
  const entry = { service: service ?? "", level: level ?? "", message, attrs: Object.fromEntries(texts) };
  return exceptionsOf(entry).map(({ type, message: said, frames }) => ({
    type,
    message: said,
    frames: frames.map(({ isTelling: _own, ...frame }) => frame),
  }));
}

function shownPlaces(places: readonly GroupPlace[], kind: GroupPlace["kind"]) {
  return places
    .filter((place) => place.kind === kind)
    .map(({ value, count, firstSeen, lastSeen }) => ({ value, count, firstSeen, lastSeen }));
}
