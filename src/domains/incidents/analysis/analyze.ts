import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql, TransactionSql } from "postgres";
import { callerOf } from "../../../http/query-caller.ts";
import type { AuthenticatedContext } from "../../../http/route.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../../storage/query-runner.ts";
import { readIncident } from "../service.ts";
import type { IncidentDetails } from "../types.ts";
import { hostOf } from "./hosts.ts";
import {
  AROUND_AFTER_MS,
  AROUND_BEFORE_MS,
  CHANGES_BEFORE_MS,
  COMPARED_MS,
  FAILING_MONITORS_MAX,
  HOSTS_MAX,
  TOGETHER_MS,
} from "./limits.ts";
import { readSection } from "./section.ts";
import { auditedChanges, type FailingPeriod, failingPeriods, findMonitors, seenRegions } from "./store.ts";
import type { ChangedError, FailingMonitor, IncidentAnalysis, IncidentContext, OnCall } from "./types.ts";

/** A pattern of messages that changed between two times, and the KQL that finds its entries. */
interface PatternChange
  extends Omit<IncidentAnalysis["patterns"]["items"][number], "levels" | "services" | "rows"> {
  readonly levels: readonly string[];
  readonly services: readonly string[];
  readonly query: string;
}

/** A group of errors that was new or came again, and where its entries are. */
interface ErrorChange {
  readonly id: number;
  readonly title: string;
  readonly culprit: string;
  readonly service: string;
  readonly count: number;
  readonly firstSeen: string;
  readonly firstRelease: string | null;
  readonly regressedAt: string | null;
  readonly regressedRelease: string | null;
  readonly entries: ChangedError["rows"];
}

/** A release of a service, and the KQL that finds its entries. */
interface Release {
  readonly service: string;
  readonly version: string;
  readonly environment: string;
  readonly previousVersion: string | null;
  readonly firstSeenMs: number;
  readonly count: number;
  readonly query: string;
}

export interface AnalysisDependencies {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseClient;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What the logs of a time say differently than those of the time right before it. */
  readonly readPatternChanges: (
    caller: QueryCaller,
    times: { readonly beforeMs: number; readonly fromMs: number; readonly toMs: number },
  ) => Promise<readonly PatternChange[]>;
  /** Which groups of errors were new between two times, or came again though resolved; the latest first. */
  readonly readErrorChanges: (
    organizationId: number,
    times: { readonly fromMs: number; readonly toMs: number },
  ) => Promise<readonly ErrorChange[]>;
  /** Which releases of services were first seen between two times, and not before; the latest first. */
  readonly readReleases: (
    caller: QueryCaller,
    times: { readonly beforeMs: number; readonly fromMs: number; readonly toMs: number },
  ) => Promise<readonly Release[]>;
  /** Who is on call for an incident now; null for nobody. */
  readonly readOnCall: (organizationId: number, incidentId: number) => Promise<OnCall | null>;
}

const MONITORS = { role: "viewer", scope: "monitors:read" } as const;
const DATABASE = "The database";
const LOG_STORE = "The log store";

/** What changed when an incident began: parts whose store is away say so. Throws NOT_FOUND. */
export async function analyzeIncident(
  deps: AnalysisDependencies,
  context: AuthenticatedContext,
  id: number,
): Promise<IncidentAnalysis> {
  const { sql, clickhouse, now, readPatternChanges, readErrorChanges, readReleases } = deps;
  const { organizationId } = context.principal;
  const incident = await readIncident(sql, organizationId, id);
  const openedMs = Date.parse(incident.openedAt);
  const fromMs = openedMs - AROUND_BEFORE_MS;
  const toMs = Math.max(fromMs + 1, Math.min(openedMs + AROUND_AFTER_MS, now()));
  const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  const together = { fromMs: openedMs - TOGETHER_MS, toMs: openedMs + TOGETHER_MS };
  const ask = <T>(read: (tx: TransactionSql) => Promise<T>): Promise<T> =>
    askPostgres(() => inOrganization(sql, organizationId, read));
  const [patterns, errors, releases, monitors, changes, regions] = await Promise.all([
    readSection(context, {
      access: { role: "viewer", scope: "logs:read" },
      store: LOG_STORE,
      read: async () => {
        const times = { beforeMs: fromMs - COMPARED_MS, fromMs, toMs };
        const changed = await readPatternChanges(callerOf(context), times);
        return changed.map(({ query, levels, services, ...pattern }) => {
          const shown = { ...pattern, levels: [...levels], services: [...services] };
          const rowsFrom = pattern.kind === "gone" ? new Date(times.beforeMs).toISOString() : from;
          return { ...shown, rows: { query, from: rowsFrom, to } };
        });
      },
    }),
    readSection(context, {
      access: { role: "viewer", scope: "alerts:read" },
      store: DATABASE,
      read: async () => {
        const found = await readErrorChanges(organizationId, { fromMs, toMs });
        return found.map((error) => shownError(error, { fromMs, toMs }));
      },
    }),
    readSection(context, {
      access: { role: "viewer", scope: "logs:read" },
      store: LOG_STORE,
      read: async () => {
        const sinceMs = openedMs - COMPARED_MS;
        const times = { beforeMs: sinceMs - COMPARED_MS, fromMs: sinceMs, toMs };
        const found = await readReleases(callerOf(context), times);
        return found.map(({ firstSeenMs, environment, query, ...release }) => {
          const at = new Date(firstSeenMs).toISOString();
          const rows = { query, from: at, to };
          return { ...release, environment: environment === "" ? null : environment, at, rows };
        });
      },
    }),
    readSection(context, {
      access: MONITORS,
      store: DATABASE,
      read: () =>
        ask(async (tx) => {
          const own = await findMonitors(tx, organizationId, incident.monitorIds);
          const periods = await failingPeriods(tx, organizationId, together);
          return failingTogether(
            incident,
            own.map(({ url }) => url),
            periods,
          );
        }),
    }),
    readSection(context, {
      access: { role: "admin", scope: "audit:read" },
      store: DATABASE,
      read: () =>
        ask((tx) =>
          auditedChanges(tx, organizationId, { fromMs: openedMs - CHANGES_BEFORE_MS, toMs: together.toMs }),
        ),
    }),
    readSection(context, {
      access: MONITORS,
      store: LOG_STORE,
      read: () =>
        seenRegions(
          clickhouse,
          organizationId,
          { monitorIds: incident.monitorIds, ...together },
          context.request.signal,
        ),
    }),
  ]);
  return { incidentId: id, from, to, patterns, errors, releases, monitors, changes, regions };
}

function shownError(error: ErrorChange, times: { fromMs: number; toMs: number }): ChangedError {
  const { id, title, culprit, service, count, regressedAt, entries } = error;
  const againMs = regressedAt === null ? Number.NaN : Date.parse(regressedAt);
  const isAgain = regressedAt !== null && againMs >= times.fromMs && againMs <= times.toMs;
  return {
    ...{ groupId: id, title, culprit, service, count, rows: entries },
    kind: isAgain ? "again" : "new",
    at: isAgain ? regressedAt : error.firstSeen,
    release: isAgain ? error.regressedRelease : error.firstRelease,
  };
}

/** Other monitors that began to fail within five minutes of the incident, or fail at the same host; each once. */
function failingTogether(
  { openedAt, monitorIds }: IncidentDetails,
  ownUrls: readonly string[],
  periods: readonly FailingPeriod[],
): FailingMonitor[] {
  const hosts = new Set(ownUrls.flatMap((url) => hostOf(url) ?? []));
  const found = new Map<number, FailingMonitor>();
  for (const { monitorId, name, url, status, startedAt, endedAt } of periods) {
    const host = hostOf(url);
    const isNear = Math.abs(startedAt.getTime() - Date.parse(openedAt)) <= TOGETHER_MS;
    const together: FailingMonitor["together"] = [
      ...(isNear ? (["time"] as const) : []),
      ...(host !== null && hosts.has(host) ? (["host"] as const) : []),
    ];
    if (together.length === 0 || monitorIds.includes(monitorId) || found.has(monitorId)) continue;
    const ended = endedAt?.toISOString() ?? null;
    found.set(monitorId, {
      monitorId,
      name,
      status,
      since: startedAt.toISOString(),
      endedAt: ended,
      together,
    });
  }
  return [...found.values()].slice(0, FAILING_MONITORS_MAX);
}

/** What somebody needs who has just been woken. Throws NOT_FOUND. */
export async function readContext(
  deps: AnalysisDependencies,
  context: AuthenticatedContext,
  id: number,
): Promise<IncidentContext> {
  const { sql, now, readOnCall } = deps;
  const { organizationId } = context.principal;
  const { openedAt, resolvedAt, monitorIds } = await readIncident(sql, organizationId, id);
  const monitors = await readSection(context, {
    access: MONITORS,
    store: DATABASE,
    read: () =>
      askPostgres(() =>
        inOrganization(sql, organizationId, (tx) => findMonitors(tx, organizationId, monitorIds)),
      ),
  });
  const hosts = new Set(monitors.items.flatMap(({ url }) => hostOf(url) ?? []));
  return {
    incidentId: id,
    monitors,
    logs: {
      query: logQuery([...hosts].slice(0, HOSTS_MAX)),
      from: new Date(Date.parse(openedAt) - AROUND_BEFORE_MS).toISOString(),
      to: resolvedAt ?? new Date(now()).toISOString(),
    },
    onCall: await readOnCall(organizationId, id),
  };
}

/** What went wrong, and whatever is said of the hosts that are checked. */
function logQuery(hosts: readonly string[]): string {
  const conditions = [
    'level in ("warn", "error", "fatal")',
    ...hosts.flatMap((host) => [`host =~ ${JSON.stringify(host)}`, `message has ${JSON.stringify(host)}`]),
  ];
  return `logs | where ${conditions.join(" or ")} | order by ts desc | take 200`;
}
