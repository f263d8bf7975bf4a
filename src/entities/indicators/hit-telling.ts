import type { Sql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { type Changes, SERVER_ORIGIN } from "../../changes/changes.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import { problemRaised, problemSubject, type Severity } from "../../problems/events.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { putRecordEntity } from "../entity-store.ts";
import {
  TELL_EVERY_MS,
  TELL_MAX_HITS,
  TELL_MAX_INCIDENTS,
  TELL_MAX_ORGANIZATIONS,
  TELL_STOP_MS,
} from "./limits.ts";

interface HitTellingOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly log: Logger;
}

interface DueHit {
  readonly iocId: number;
  readonly type: string;
  readonly value: string;
  readonly severity: Severity;
  readonly entityType: string;
  readonly entityKey: string;
  readonly found: string;
  readonly n: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly sampleId: string;
}

const TITLE_MAX_CHARS = 255;
const ACTOR = { kind: "job", name: "indicators" } as const;

/** Tells of indicators that were found: what is told and that it was told are one transaction. */
export class HitTelling extends BackgroundWork {
  readonly #options: HitTellingOptions;

  constructor(options: HitTellingOptions) {
    super({
      pollMs: TELL_EVERY_MS,
      watch: whenDue(options.sql, (sql) => sql`EXISTS (SELECT 1 FROM ioc_hits WHERE is_due)`),
      failure: "found indicators could not be told; they will be",
      stopMs: TELL_STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  async workOnce(signal: AbortSignal): Promise<boolean> {
    const { sql, changes } = this.#options;
    const due = await askPostgres(
      () => sql<{ organizationId: number }[]>`
        SELECT DISTINCT organization_id AS "organizationId" FROM ioc_hits WHERE is_due LIMIT ${TELL_MAX_ORGANIZATIONS}`,
    );
    let isMore = due.length === TELL_MAX_ORGANIZATIONS;
    for (const { organizationId } of due) {
      if (signal.aborted) return false;
      const cause = { organizationId, actor: ACTOR, origin: SERVER_ORIGIN };
      const told = await changes.inChange(cause, null, tellDue);
      isMore = isMore || told === TELL_MAX_HITS;
    }
    return isMore;
  }
}

/** Tells the worst of what is due; how many hits that were. */
async function tellDue(change: Change): Promise<number> {
  const { tx, organizationId, nowMs } = change;
  const due = await tx<DueHit[]>`
    SELECT h.ioc_id::integer AS "iocId", i.type, i.value, coalesce(i.severity, 'medium') AS severity,
      h.entity_type AS "entityType", h.entity_key AS "entityKey", h.found, h.n::float8 AS n, h.first_at AS "firstAt",
      h.last_at AS "lastAt", h.sample_id AS "sampleId"
    FROM ioc_hits h JOIN iocs i ON i.organization_id = h.organization_id AND i.id = h.ioc_id
    WHERE h.organization_id = ${organizationId} AND h.is_due
    ORDER BY array_position(ARRAY['critical', 'high', 'medium', 'low'], coalesce(i.severity, 'medium')), h.ioc_id
    LIMIT ${TELL_MAX_HITS} FOR UPDATE OF h SKIP LOCKED`;
  const each = due.slice(0, TELL_MAX_INCIDENTS);
  for (const hit of each) raise(change, hit);
  if (due.length > each.length) raiseTogether(change, due.slice(each.length));
  for (const iocId of new Set(due.map((hit) => hit.iocId))) {
    const hit = due.find((one) => one.iocId === iocId);
    if (hit === undefined) continue;
    const entity = { type: "ioc", key: hit.value, name: hit.value, recordId: iocId } as const;
    await putRecordEntity(tx, organizationId, entity, nowMs);
  }
  await tx`
    UPDATE ioc_hits SET is_due = false, told_at = ${new Date(nowMs)}
    WHERE organization_id = ${organizationId} AND (ioc_id, entity_type, entity_key) IN (
      SELECT * FROM unnest(${due.map(({ iocId }) => iocId)}::bigint[], ${due.map(({ entityType }) => entityType)}::text[],
                           ${due.map(({ entityKey }) => entityKey)}::text[]))`;
  return due.length;
}

function raise(change: Change, hit: DueHit): void {
  const { iocId, type, value, severity, entityType, entityKey, found, n, firstAt, lastAt, sampleId } = hit;
  const key = `ioc:${iocId}:${entityType}:${entityKey}`.slice(0, 512);
  const inside = found === value ? "" : ` (${found})`;
  const count = n === 1 ? "1 entry" : `${n} entries`;
  change.emit(problemRaised, problemSubject(key), {
    key,
    source: { kind: "indicator", id: iocId, name: value.slice(0, TITLE_MAX_CHARS) },
    title: titleOf(`Indicator ${value} on ${entityKey}`),
    severity,
    since: firstAt.toISOString(),
    monitorIds: [],
    summary: `${count} of ${entityType} ${entityKey} hold the ${type} ${value}${inside}.`.slice(0, 4096),
    evidence: {
      ...{ iocId, type, value, found, entityType, entityKey, hits: n, sampleEntryId: sampleId },
      ...{ firstAt: firstAt.toISOString(), lastAt: lastAt.toISOString() },
    },
  });
}

/** Many at once are a matter of the list and not of so many machines: one incident a day tells of them. */
function raiseTogether(change: Change, hits: readonly DueHit[]): void {
  const [worst] = hits;
  if (worst === undefined) return;
  const key = `ioc:many:${new Date(change.nowMs).toISOString().slice(0, 10)}`;
  const indicators = new Set(hits.map(({ iocId }) => iocId)).size;
  change.emit(problemRaised, problemSubject(key), {
    key,
    source: { kind: "indicator", id: worst.iocId, name: worst.value.slice(0, TITLE_MAX_CHARS) },
    title: titleOf(`${indicators} more indicators were found in ${hits.length} places`),
    severity: worst.severity,
    since: new Date(Math.min(...hits.map(({ firstAt }) => firstAt.getTime()))).toISOString(),
    monitorIds: [],
    summary: "Too many were found at once to tell of each; the list of IOCs says which have hits.",
  });
}

function titleOf(text: string): string {
  return [...text].slice(0, TITLE_MAX_CHARS).join("");
}
