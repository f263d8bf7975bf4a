import type { Sql } from "postgres";
import {
  type Ingest,
  type IngestRequest,
  IngestUnavailableError,
  type LogBatch,
  type RecordDecoder,
} from "../../../../ingest/index.ts";
import { Admission } from "../../../concurrency/admission.ts";
import { patient } from "../../../concurrency/patience.ts";
import type { Logger } from "../../../log.ts";
import { throwForClient } from "../../../receive/ingest-refusals.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import {
  REPLAY_MAX_MS,
  REPLAYS_MAX_RUNNING,
  REPLAYS_MAX_RUNNING_OF_ONE,
  REPLAYS_MAX_WAITING,
  REPLAYS_MAX_WAITING_OF_ONE,
  STEP_MAX_BYTES,
  STEP_MAX_RECORDS,
} from "../limits.ts";
import type { QuarantineMetrics } from "../quarantine-metrics.ts";
import { countHeld, countReplaying, type RecordFilter } from "../record-store.ts";
import type { ClaimedRecord, ClaimOutcome } from "./claim-store.ts";
import { type DryRun, dryRun } from "./dry-run.ts";
import { ReplayProbe } from "./probe.ts";
import { ReasonCounts } from "./reason-counts.ts";
import { type Claim, type ReplayClaims, UncertainStepError } from "./replay-claims.ts";
import type { ReplayDecoders } from "./replay-decoders.ts";
import { ReplayWriter } from "./replay-writer.ts";

export interface ReplayerOptions {
  readonly sql: Sql;
  readonly ingest: Pick<Ingest, "ingest">;
  readonly claims: ReplayClaims;
  readonly decoders: ReplayDecoders;
  readonly metrics: QuarantineMetrics;
  readonly log: Logger;
  /** What a step takes on; smaller in tests. */
  readonly step?: { readonly maxRecords: number; readonly maxBytes: number };
}

/** What a replay did. */
interface Replayed {
  /** Records that were held and matched when it began. */
  readonly matched: number;
  /** They are entries now. */
  readonly replayed: number;
  readonly stillRejected: number;
  /** Matched and not come to: the replay took as long as one may. */
  readonly remaining: number;
  /** Part of somebody else's replay, or of an interrupted one that is being settled. */
  readonly inProgress: number;
  readonly reasons: readonly { readonly reason: string; readonly records: number }[];
}

const STEP = { maxRecords: STEP_MAX_RECORDS, maxBytes: STEP_MAX_BYTES };

/** A record that becomes entries, and how many. */
interface Readable {
  readonly record: ClaimedRecord;
  readonly decoder: RecordDecoder;
  readonly entries: number;
}

/** Makes entries of quarantined records, as their mappings are now. */
export class Replayer {
  readonly #options: ReplayerOptions;
  readonly #admission = new Admission({
    what: "a replay",
    dependency: "postgres",
    maxRunning: REPLAYS_MAX_RUNNING,
    maxWaiting: REPLAYS_MAX_WAITING,
    maxRunningOfOne: REPLAYS_MAX_RUNNING_OF_ONE,
    maxWaitingOfOne: REPLAYS_MAX_WAITING_OF_ONE,
  });
  readonly #writer = new ReplayWriter();

  constructor(options: ReplayerOptions) {
    this.#options = options;
  }

  /** Says what a replay would do; changes nothing. Throws DependencyError. */
  dryRun(organizationId: number, filter: RecordFilter, signal: AbortSignal): Promise<DryRun> {
    const { sql, decoders, log } = this.#options;
    return this.#admission.run({ organizationId }, signal, () =>
      dryRun({ sql, decoders, log, step: this.#step }, organizationId, filter),
    );
  }

  /**
   * Replays the records that are held and match, step by step, each of them once. Ends early, and says how many remain,
   * after the time a replay may take, when the caller goes away, and when a later step fails. Throws ApiError or
   * DependencyError when the first step fails: then nothing is replayed, or what is will be settled shortly.
   */
  replay(organizationId: number, filter: RecordFilter, signal: AbortSignal): Promise<Replayed> {
    return this.#admission.run({ organizationId }, signal, () =>
      this.#replay(organizationId, filter, signal),
    );
  }

  /** See `ReplayClaims.takeOver`. */
  takeOver(organizationId: number): Promise<void> {
    return this.#options.claims.takeOver(organizationId);
  }

  get #step(): typeof STEP {
    return this.#options.step ?? STEP;
  }

  async #replay(organizationId: number, filter: RecordFilter, signal: AbortSignal): Promise<Replayed> {
    const { claims, log, metrics } = this.#options;
    const deadline = performance.now() + patient(REPLAY_MAX_MS);
    const { records: matched, lastId: upTo } = await this.#count(organizationId, filter, {
      after: 0,
      upTo: Number.MAX_SAFE_INTEGER,
    });
    const reasons = new ReasonCounts();
    let replayed = 0;
    let stillRejected = 0;
    let after = 0;
    while (after < upTo && performance.now() < deadline && !signal.aborted) {
      try {
        const range = { after, upTo, ...this.#step };
        const taken = await claims.take(organizationId, filter, range, (claim) => this.#replayStep(claim));
        if (taken === null) break;
        after = taken.lastId;
        replayed += taken.outcome.replayed.length;
        stillRejected += taken.outcome.held.length;
        for (const { reason } of taken.outcome.held) reasons.add(reason ?? "");
      } catch (error) {
        if (replayed + stillRejected === 0) throw error;
        log.warn({ err: error, organizationId }, "a replay ended early");
        break;
      }
    }
    metrics.records.inc({ outcome: "still_rejected" }, stillRejected);
    const { records: remaining } = await this.#count(organizationId, filter, { after, upTo });
    const { sql } = this.#options;
    const inProgress = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => countReplaying(tx, organizationId, filter)),
    );
    return { matched, replayed, stillRejected, remaining, inProgress, reasons: reasons.top() };
  }

  #count(organizationId: number, filter: RecordFilter, range: { after: number; upTo: number }) {
    const { sql } = this.#options;
    return askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => countHeld(tx, organizationId, filter, range)),
    );
  }

  /** Resolves when the entries are durable. */
  async #replayStep({ organizationId, records }: Claim): Promise<ClaimOutcome> {
    const { decoders, log } = this.#options;
    const probe = new ReplayProbe(organizationId, log);
    const readable: Readable[] = [];
    const held: { id: number; reason: string }[] = [];
    for (const record of records) {
      const decoder = await decoders.decoderOf(organizationId, record);
      const verdict = probe.judge(record, decoder);
      if (decoder !== null && "entries" in verdict)
        readable.push({ record, decoder, entries: verdict.entries });
      else held.push({ id: record.id, reason: "reason" in verdict ? verdict.reason : "" });
    }
    if (readable.length > 0) await this.#store(organizationId, readable);
    return { replayed: readable.map(({ record }) => record.id), held };
  }

  /** All of them in one request, so that they become durable together. */
  async #store(organizationId: number, readable: readonly Readable[]): Promise<void> {
    const request: IngestRequest = {
      organizationId,
      format: "quarantine",
      bytes: readable.reduce((sum, { record }) => sum + record.raw.length, 0),
      keys: null,
      decode: (batch, skip) => this.#decode(batch, skip, readable),
    };
    try {
      await this.#options.ingest.ingest(request);
    } catch (error) {
      const isRefused = error instanceof IngestUnavailableError && error.reason !== "write_failed";
      if (isRefused) throwForClient(error);
      throw new UncertainStepError(error);
    }
  }

  #decode(batch: LogBatch, skip: ReadonlySet<number>, readable: readonly Readable[]): void {
    const writer = this.#writer;
    let first = 0;
    for (const { record, decoder, entries } of readable) {
      writer.openRecord(batch, within(skip, first, entries), record);
      decoder.decode(record.raw, writer);
      if (writer.accepted !== entries || writer.rejected > 0)
        throw new Error(`the decoder ${decoder.format} read one record in two ways`);
      first += entries;
    }
  }
}

const NOTHING: ReadonlySet<number> = new Set();

/** Those of the positions that are one record's, counted from its first. */
function within(skip: ReadonlySet<number>, first: number, entries: number): ReadonlySet<number> {
  if (skip.size === 0) return NOTHING;
  const own = new Set<number>();
  for (let entry = 0; entry < entries; entry++) if (skip.has(first + entry)) own.add(entry);
  return own;
}
