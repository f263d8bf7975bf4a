import type { Sql, TransactionSql } from "postgres";
import { type PublicIncident, readPublicIncidents } from "../../incidents/public-incidents.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { readPeriods } from "../../uptime/read-periods.ts";
import { uptimeOf } from "../../uptime/slo.ts";
import { barsOf, daysUntil, roundedDown } from "./bars.ts";
import { findPageRow, listPublished, type PageRow, type PublishedName } from "./page-row.ts";
import { readShownWindows, type ShownWindow, shownSpans } from "./shown-windows.ts";
import { type Component, type PublicPage, STATES, type State } from "./types.ts";
import { WORDS } from "./words.ts";

const DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A page as it is published, and what opens it. */
export interface PublishedPage {
  readonly id: number;
  readonly organizationId: number;
  readonly page: PublicPage;
  readonly customDomain: string | null;
  /** Null for a page that everyone may read. */
  readonly passwordHash: string | null;
  readonly passwordVersion: number;
}

/** Where pages are read. Throws DependencyError while that is away. */
export interface PageSource {
  /** The page of a slug as it is now; null for none, and for one that is not public. */
  readonly read: (slug: string, nowMs: number) => Promise<PublishedPage | null>;
  /** Which page answers on which host, over all organisations. */
  readonly list: (max: number) => Promise<readonly PublishedName[]>;
}

/** Pages as the database has them. */
export function pagesIn(sql: Sql): PageSource {
  return {
    read: (slug, nowMs) => readPublishedPage(sql, slug, nowMs),
    list: (max) => askPostgres(() => listPublished(sql, max)),
  };
}

async function readPublishedPage(sql: Sql, slug: string, nowMs: number): Promise<PublishedPage | null> {
  // Whose page it is nobody knows before it is found.
  const row = await askPostgres(() => findPageRow(sql, slug));
  if (row === null || !row.isPublic) return null;
  const { organizationId } = row;
  const page = await askPostgres(() => inOrganization(sql, organizationId, (tx) => readPage(tx, row, nowMs)));
  const { id, customDomain, passwordHash, passwordVersion } = row;
  return { id, organizationId, page, customDomain, passwordHash, passwordVersion };
}

interface MonitorNow {
  readonly id: number;
  readonly name: string;
  readonly state: State;
}

async function readPage(tx: TransactionSql, row: PageRow, nowMs: number): Promise<PublicPage> {
  const { organizationId, monitorIds } = row;
  const monitors = await readMonitors(tx, row);
  const span = daysUntil(nowMs, row.theme?.days ?? DAYS);
  const { byMonitor } = await readPeriods(tx, organizationId, monitorIds, span);
  const windows = await readShownWindows(tx, organizationId, monitorIds, span.fromMs);
  const incidents = await readPublicIncidents(tx, organizationId, {
    monitorIds,
    sinceMs: nowMs - DAYS * DAY_MS,
  });
  const components = monitors.map((monitor): Component => {
    const periods = byMonitor.get(monitor.id) ?? [];
    const spans = shownSpans(windows, monitor.id);
    const isAtWork = spans.some(({ fromMs, toMs }) => fromMs <= nowMs && nowMs < toMs);
    const { percent } = uptimeOf(periods, spans, span);
    const days = barsOf(periods, spans, span);
    // Of less than is worth a bar nothing is said.
    const isKnown = percent !== null && days.some(({ state }) => state !== "unknown");
    return {
      monitorId: monitor.id,
      name: monitor.name,
      state: isAtWork ? "maintenance" : monitor.state,
      uptimePercent: isKnown ? roundedDown(percent) : null,
      days,
    };
  });
  const nameOf = new Map(monitors.map(({ id, name }) => [id, name]));
  return {
    name: row.name,
    slug: row.slug,
    description: row.description,
    theme: row.theme,
    state: worstOf(components),
    updatedAt: new Date(nowMs).toISOString(),
    isStale: false,
    groups: grouped(row, components),
    maintenance: windows
      .filter(({ toMs }) => toMs > nowMs)
      .map((window) => shownMaintenance(window, nameOf, nowMs)),
    incidents: incidents.map((incident) => shownIncident(incident, nameOf)),
  };
}

/** Names of a page for those monitors of it that there are. */
async function readMonitors(tx: TransactionSql, row: PageRow): Promise<MonitorNow[]> {
  const rows = await tx<{ id: string; name: string; paused: boolean; confirmed: string | null }[]>`
    SELECT m.id, m.name, m.paused, s.confirmed FROM monitors m
    LEFT JOIN monitor_state s ON s.monitor_id = m.id AND s.organization_id = m.organization_id
    WHERE m.organization_id = ${row.organizationId} AND m.id = ANY(${[...row.monitorIds]}::bigint[])`;
  const found = new Map(rows.map((monitor) => [Number(monitor.id), monitor]));
  const names = new Map(row.publicNames.map(({ monitorId, name }) => [monitorId, name]));
  return row.monitorIds.flatMap((id) => {
    const monitor = found.get(id);
    if (monitor === undefined) return [];
    const state = monitor.paused ? "unknown" : stateOf(monitor.confirmed);
    return [{ id, name: names.get(id) ?? monitor.name, state }];
  });
}

function stateOf(confirmed: string | null): State {
  if (confirmed === "up") return "operational";
  return confirmed === "down" || confirmed === "degraded" ? confirmed : "unknown";
}

/** The worst there is; where something is known, what is not known says nothing. */
function worstOf(components: readonly { readonly state: State }[]): State {
  const known = components.filter(({ state }) => state !== "unknown");
  return STATES.find((state) => known.some((component) => component.state === state)) ?? "unknown";
}

/** Components of no group first, without a name above them; in a group they are in the page's order. */
function grouped(row: PageRow, components: readonly Component[]): PublicPage["groups"] {
  const groupOf = new Map(
    row.groups.toReversed().flatMap((group) => group.monitorIds.map((id) => [id, group] as const)),
  );
  const groups = [null, ...row.groups].map((group) => {
    const own = components.filter(({ monitorId }) => (groupOf.get(monitorId) ?? null) === group);
    return { name: group?.name ?? null, state: worstOf(own), components: own };
  });
  return groups.filter((group) => group.components.length > 0);
}

function shownMaintenance(
  { title, monitorId, fromMs, toMs }: ShownWindow,
  nameOf: ReadonlyMap<number, string>,
  nowMs: number,
): PublicPage["maintenance"][number] {
  return {
    title,
    startsAt: new Date(fromMs).toISOString(),
    endsAt: new Date(toMs).toISOString(),
    isRunning: fromMs <= nowMs,
    components: monitorId === null ? [...nameOf.values()] : namesOf([monitorId], nameOf),
  };
}

/** An incident by its public names: what the server found is named after what only its organisation should know. */
export function shownIncident(
  { id, title, status, openedAtMs, resolvedAtMs, monitorIds, updates }: PublicIncident,
  nameOf: ReadonlyMap<number, string>,
): PublicPage["incidents"][number] {
  const components = namesOf(monitorIds, nameOf);
  return {
    id,
    title: title ?? WORDS.incidentOf(components),
    status,
    openedAt: new Date(openedAtMs).toISOString(),
    resolvedAt: resolvedAtMs === null ? null : new Date(resolvedAtMs).toISOString(),
    components,
    updates: updates.map(({ atMs, status: said, body }) => ({
      at: new Date(atMs).toISOString(),
      status: said,
      body,
    })),
  };
}

function namesOf(ids: readonly number[], nameOf: ReadonlyMap<number, string>): string[] {
  return ids.flatMap((id) => nameOf.get(id) ?? []);
}
