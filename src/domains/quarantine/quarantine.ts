import { createHash } from "node:crypto";
import type { Sql } from "postgres";
import { Admission } from "../../concurrency/admission.ts";
import type { QuarantinedBatch, QuarantineSink } from "../../receive/quarantine-sink.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { storableText } from "../../storage/storable-text.ts";
import { findKeptKeys, insertRecords, lockUsage, type NewRecord, raiseUsage } from "./kept-records.ts";
import {
  KEEP_TIMEOUT_MS,
  KEEPS_MAX_RUNNING,
  KEEPS_MAX_RUNNING_OF_ONE,
  KEEPS_MAX_WAITING,
  KEEPS_MAX_WAITING_OF_ONE,
  PLACE_MAX_CHARS,
} from "./limits.ts";
import type { QuarantineMetrics } from "./quarantine-metrics.ts";

/** What one organisation may have in it. */
export interface QuarantineBounds {
  readonly maxRecords: number;
  readonly maxBytes: number;
}

interface QuarantineOptions {
  readonly sql: Sql;
  readonly bounds: QuarantineBounds;
  readonly metrics: QuarantineMetrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Keeps what could not be mapped, in Postgres. */
export class Quarantine implements QuarantineSink {
  readonly #options: QuarantineOptions;
  readonly #admission = new Admission({
    what: "keeping records",
    dependency: "postgres",
    maxRunning: KEEPS_MAX_RUNNING,
    maxWaiting: KEEPS_MAX_WAITING,
    maxRunningOfOne: KEEPS_MAX_RUNNING_OF_ONE,
    maxWaitingOfOne: KEEPS_MAX_WAITING_OF_ONE,
  });

  constructor(options: QuarantineOptions) {
    this.#options = options;
  }

  /**
   * Keeps the records in one transaction, those of them that are not too large and that the organisation's bounds leave
   * room for, and answers how many of them are in the quarantine now. A record of a request that is repeated counts and is not kept again, also
   * when it was replayed since. Throws a retryable DependencyError; what it began may still take effect then, and the
   * repetition of a request with a name finds it.
   */
  async keep(batch: QuarantinedBatch): Promise<number> {
    const { organizationId } = batch;
    const { sql, metrics } = this.#options;
    const records = newRecords(batch);
    metrics.records.inc({ outcome: "refused" }, batch.records.length - records.length);
    if (records.length === 0) return 0;
    const { repeated, added } = await this.#admission.run({ organizationId }, NEVER, () =>
      askPostgres(
        () => inOrganization(sql, organizationId, (tx) => this.#keepIn(tx, batch, records)),
        KEEP_TIMEOUT_MS,
      ),
    );
    metrics.records.inc({ outcome: "kept" }, added);
    metrics.records.inc({ outcome: "refused" }, records.length - repeated - added);
    return repeated + added;
  }

  async #keepIn(
    tx: Parameters<typeof lockUsage>[0],
    { organizationId, format, sourceKey }: QuarantinedBatch,
    records: readonly NewRecord[],
  ): Promise<{ repeated: number; added: number }> {
    const { bounds, now } = this.#options;
    const usage = await lockUsage(tx, organizationId);
    const keys = records.flatMap(({ key }) => (key === null ? [] : [key]));
    const known = await findKeptKeys(tx, organizationId, keys);
    const isKnown = ({ key }: NewRecord): boolean =>
      key !== null && known.has(Buffer.from(key).toString("hex"));
    const added: NewRecord[] = [];
    let bytes = 0;
    for (const record of records) {
      if (isKnown(record)) continue;
      if (usage.records + added.length >= bounds.maxRecords) break;
      if (usage.bytes + bytes + record.raw.length > bounds.maxBytes) continue;
      added.push(record);
      bytes += record.raw.length;
    }
    if (added.length > 0) {
      await insertRecords(tx, organizationId, { format, sourceKey, nowMs: now() }, added);
      await raiseUsage(tx, organizationId, { records: added.length, bytes });
    }
    return { repeated: records.filter(isKnown).length, added: added.length };
  }
}

/** Records are kept although their sender has gone away. */
const NEVER = new AbortController().signal;

/** Those that came whole. Two records of a request that are the same in everything are still two. */
function newRecords({ format, sourceKey, requestIdentity, records }: QuarantinedBatch): NewRecord[] {
  const seen = new Map<string, number>();
  return records.flatMap(({ place, reason, raw }) => {
    if (raw === null) return [];
    const kept = { place: storableText(place).slice(0, PLACE_MAX_CHARS), reason: storableText(reason), raw };
    if (requestIdentity === null) return { ...kept, key: null };
    const digest = createHash("sha256")
      .update(JSON.stringify([format, sourceKey, requestIdentity, place]))
      .update(raw)
      .digest("hex");
    const occurrence = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, occurrence);
    return { ...kept, key: createHash("sha256").update(`${digest} ${occurrence}`).digest() };
  });
}
