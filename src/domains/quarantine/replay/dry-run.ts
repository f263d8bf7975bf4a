import type { Sql } from "postgres";
import { ByteBuffer, CommittedBlock, LOG_ID_STEP } from "../../../../ingest/index.ts";
import { patient } from "../../../concurrency/patience.ts";
import type { Logger } from "../../../log.ts";
import { EntryEncoder } from "../../../receive/entry-encoder.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import { DRY_RUN_MAX_MS, EXAMPLE_ENTRIES_MAX } from "../limits.ts";
import { countHeld, type RecordFilter } from "../record-store.ts";
import { type ClaimedRecord, readRecords } from "./claim-store.ts";
import { ReplayProbe } from "./probe.ts";
import { ReasonCounts } from "./reason-counts.ts";
import type { ReplayDecoders } from "./replay-decoders.ts";

interface DryRunDependencies {
  readonly sql: Sql;
  readonly decoders: ReplayDecoders;
  readonly log: Logger;
  readonly step: { readonly maxRecords: number; readonly maxBytes: number };
}

/** What a replay would do now. */
export interface DryRun {
  /** Records that are held and match. */
  readonly matched: number;
  readonly wouldAccept: number;
  readonly wouldReject: number;
  /** Matched and not looked at: the dry run took as long as one may. */
  readonly notExamined: number;
  /** The first entries, as a search would answer them but for what they get when they are stored. */
  readonly entries: readonly { readonly id: number; readonly entry: Readonly<Record<string, unknown>> }[];
  readonly reasons: readonly { readonly reason: string; readonly records: number }[];
}

/** Reads the records that are held and match as a replay would, and stores nothing. Throws DependencyError. */
export async function dryRun(
  { sql, decoders, log, step }: DryRunDependencies,
  organizationId: number,
  filter: RecordFilter,
): Promise<DryRun> {
  const deadline = performance.now() + patient(DRY_RUN_MAX_MS);
  const { records: matched, lastId: upTo } = await askPostgres(() =>
    inOrganization(sql, organizationId, (tx) =>
      countHeld(tx, organizationId, filter, { after: 0, upTo: Number.MAX_SAFE_INTEGER }),
    ),
  );
  const probe = new ReplayProbe(organizationId, log);
  const examples: ClaimedRecord[] = [];
  const reasons = new ReasonCounts();
  let wouldAccept = 0;
  let wouldReject = 0;
  let after = 0;
  while (after < upTo && performance.now() < deadline) {
    const records = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) =>
        readRecords(tx, organizationId, filter, { after, upTo, ...step }),
      ),
    );
    for (const record of records) {
      const decoder = await decoders.decoderOf(organizationId, record);
      // Of a record that becomes several entries the first one is shown, so the rows of the batch say whose they are.
      const isExample = examples.length < EXAMPLE_ENTRIES_MAX;
      const rowsBefore = probe.batch.rows;
      const verdict = probe.judge(record, decoder, isExample);
      if ("reason" in verdict) {
        wouldReject++;
        reasons.add(verdict.reason);
        continue;
      }
      wouldAccept++;
      if (isExample) for (let row = rowsBefore; row < probe.batch.rows; row++) examples.push(record);
    }
    const last = records.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  return {
    matched,
    wouldAccept,
    wouldReject,
    notExamined: Math.max(0, matched - wouldAccept - wouldReject),
    entries: entriesOf(probe, examples).slice(0, EXAMPLE_ENTRIES_MAX),
    reasons: reasons.top(),
  };
}

/** The rows of the probe's batch, each with the id of its record. */
function entriesOf(
  { batch }: ReplayProbe,
  examples: readonly ClaimedRecord[],
): { id: number; entry: Record<string, unknown> }[] {
  if (batch.rows === 0) return [];
  const bytes = new ByteBuffer();
  batch.writeTo(bytes, 0n, LOG_ID_STEP);
  const encoder = new EntryEncoder(new CommittedBlock(bytes.view()));
  return examples.map((record, row) => {
    const {
      id: _id,
      receivedAt: _receivedAt,
      event_id: _eventId,
      ...entry
    } = parseEntry(encoder.encode(row));
    return { id: record.id, entry };
  });
}

function parseEntry(json: string): Record<string, unknown> {
  return JSON.parse(json);
}
