import { setImmediate as nextTurn } from "node:timers/promises";
import type { DecodedBody } from "./apart/decode-body.ts";
import { type Commit, newCommit, type OwnBlock } from "./commit.ts";
import { CommitWriter } from "./commit-writer.ts";
import { EVENT_KEY_WORDS } from "./dedupe/event-key.ts";
import { type EventSighting, findDuplicates } from "./dedupe/find-duplicates.ts";
import { requestSpan } from "./dedupe/request-keys.ts";
import { IngestKeyReusedError, IngestUnavailableError } from "./errors.ts";
import type { DecodingApart, IngestRequest, IngestResult } from "./ingest-request.ts";
import { BATCH_MAX_BYTES, DECODE_IN_PLACE_MAX_BYTES } from "./limits.ts";
import { LogBatch } from "./log-batch.ts";
import { LOG_ID_STEP } from "./log-id.ts";
import type { IngestPipelineOptions } from "./pipeline-options.ts";
import { asReceived, asRuled, type RequestEntries } from "./request-entries.ts";

/** How often a request waits for the fate of the same events in an earlier request. */
const MAX_ATTEMPTS = 8;

const NOTHING: ReadonlySet<number> = new Set();
const NO_KEYS = new Uint32Array(0);

/**
 * Turns requests into acknowledged, durable rows. All requests that arrive while the previous batch is being synced
 * gather in the next one (group commit), so the disk is never idle and never asked twice at the same time.
 */
export class IngestPipeline {
  readonly #options: IngestPipelineOptions;
  readonly #writer: CommitWriter;
  #spareBatch = new LogBatch();
  /** For entries that rules are asked about; empty in between. */
  readonly #scratch = new LogBatch();
  #open: Commit<LogBatch>;
  /** Large requests whose turn is next, before the open batch. */
  readonly #own: Commit<OwnBlock>[] = [];
  #syncing: Commit | null = null;
  #scheduled = false;
  #closing = false;
  #inFlightBytes = 0;

  constructor(options: IngestPipelineOptions) {
    this.#options = options;
    this.#writer = new CommitWriter(options);
    this.#open = newCommit(new LogBatch());
  }

  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  /** The batches committed so far have ids at or below it, all later ones ids above it. */
  get idMark(): bigint {
    return (this.#writer.firstId ?? this.#options.ids.mark()) - BigInt(LOG_ID_STEP);
  }

  /**
   * Stores the entries of a request and resolves when they would survive the loss of every process and of power.
   * Rejects with IngestRejectedError (the request is invalid) or IngestUnavailableError (try again later); in both
   * cases nothing of it is stored.
   */
  async ingest(request: IngestRequest): Promise<IngestResult> {
    // Those that wait for the other thread have a bound of their own, so that they keep nobody else out.
    const isApart = isLarge(request);
    const found = this.#options.rulesOf?.(request.organizationId) ?? null;
    const rules = found instanceof Promise ? await found : found;
    const made = isApart ? await this.#decodeApart(request, request.apart) : null;
    const block = made?.block ?? null;
    if (!isApart) this.#refuseWhenOverloaded(request.bytes);
    this.#inFlightBytes += request.bytes;
    try {
      if (made !== null && rules === null && isOwnRecord(request, made))
        return await this.#commitAlone(request, made);
      const entries =
        rules === null
          ? asReceived(request, block)
          : await asRuled(request, block, rules, {
              scratch: this.#scratch,
              receivedAtMs: this.#options.now(),
            });
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        while (this.#open.requests > 0 && this.#open.entries.contentBytes + request.bytes > BATCH_MAX_BYTES)
          await this.#open.outcome.promise.catch(() => undefined);
        this.#refuseWhenUnable();
        const result = await this.#addToOpenBatch(request, entries);
        if (result !== null) return result;
      }
      throw new IngestUnavailableError("in_flight", "the same events are being sent many times at once");
    } finally {
      this.#inFlightBytes -= request.bytes;
      // The collector takes its time with what is large and not its own, while more of it comes.
      block?.buffer.transfer(0);
    }
  }

  /** Refuses new requests and resolves when all earlier ones are answered. */
  async close(): Promise<void> {
    this.#closing = true;
    while (this.#syncing !== null || this.#own.length > 0 || this.#open.requests > 0)
      await (this.#syncing ?? this.#own[0] ?? this.#open).outcome.promise.catch(() => undefined);
  }

  #refuseWhenUnable(): void {
    const { log, ids } = this.#options;
    if (this.#closing) throw new IngestUnavailableError("closing", "the server is shutting down");
    if (!ids.isReady)
      throw new IngestUnavailableError(
        "no_instance",
        "the server has been without its database for too long to make ids",
      );
    if (log.bytes >= log.maxBytes)
      throw new IngestUnavailableError(
        "log_full",
        "the write-ahead log is full because the log store does not keep up",
      );
  }

  #refuseWhenOverloaded(bytes: number): void {
    this.#refuseWhenUnable();
    if (this.#inFlightBytes + bytes > this.#options.maxInFlightBytes && this.#inFlightBytes > 0)
      throw new IngestUnavailableError("in_flight", "too many log requests are in flight");
  }

  /** Decodes the body on the other thread. */
  async #decodeApart(
    { organizationId }: IngestRequest,
    { spec, body, decoded }: DecodingApart,
  ): Promise<DecodedBody> {
    const { now, thread } = this.#options;
    this.#refuseWhenUnable();
    const made = await thread.decode({ organizationId, receivedAtMs: now(), spec, body });
    decoded?.(made);
    // Others get a turn before the entries are appended.
    await nextTurn();
    return made;
  }

  /** Stores the entries as a record of their own. */
  async #commitAlone(request: IngestRequest, { block, rows }: DecodedBody): Promise<IngestResult> {
    this.#refuseWhenUnable();
    const startedAt = performance.now();
    const commit = newCommit({ block, rows, receivedAtMs: this.#options.now() });
    commit.organizations.add(request.organizationId);
    commit.requests++;
    this.#own.push(commit);
    this.#scheduleCommit();
    this.#options.observer.decoded(request.format, rows, 0, request.bytes, performance.now() - startedAt);
    await commit.outcome.promise;
    return { accepted: rows, duplicates: 0, replayed: false };
  }

  /** Null when the request has to be tried again because the batch being synced holds some of its events. */
  async #addToOpenBatch(
    request: IngestRequest,
    { append, dropped, applied }: RequestEntries,
  ): Promise<IngestResult | null> {
    const { now, observer } = this.#options;
    const startedAt = performance.now();
    const commit = this.#open;
    const batch = commit.entries;
    const receivedAtMs = now();
    const decode = (skip: ReadonlySet<number>): void => {
      batch.beginRequest(request.organizationId, receivedAtMs);
      try {
        append(batch, skip);
      } catch (error) {
        batch.rewindRequest();
        throw error;
      }
    };
    decode(NOTHING);
    const accepted = batch.requestRows + dropped;
    const repeated = this.#lookForRequest(request, batch);
    const found = findDuplicates(batch, request.organizationId, (key) => this.#lookForEvent(key));
    if ((found.inSync || repeated === "syncing") && this.#syncing !== null) {
      // Whether these are duplicates is being decided: they are if the sync succeeds.
      batch.rewindRequest();
      await this.#syncing.outcome.promise.catch(() => undefined);
      return null;
    }
    const replayed = repeated === "seen";
    if (replayed || found.entries.size > 0) batch.rewindRequest();
    if (!replayed) {
      if (found.entries.size > 0) decode(found.entries);
      this.#claimKeys(commit, [
        found.fresh,
        request.keys?.identity ?? NO_KEYS,
        request.keys?.content ?? NO_KEYS,
      ]);
      if (request.keys !== null && batch.requestRows > 0) {
        const span = requestSpan(batch.rows - batch.requestRows, batch.requestRows);
        commit.keys.writeBytes(new Uint8Array(span.buffer));
      }
    }
    if (batch.requestRows > 0) commit.organizations.add(request.organizationId);
    batch.keepRequest();
    const duplicates = replayed ? accepted : found.entries.size;
    observer.decoded(request.format, accepted, duplicates, request.bytes, performance.now() - startedAt);
    // A request of nothing but duplicates waits as well: they may be of the same batch.
    commit.requests++;
    this.#scheduleCommit();
    await commit.outcome.promise;
    if (!replayed) applied();
    return { accepted, duplicates, replayed };
  }

  #lookForEvent(key: Uint32Array): EventSighting {
    if (this.#syncing?.keySet.has(key, 0) === true) return "syncing";
    return this.#open.keySet.has(key, 0) || this.#options.events.has(key, 0) ? "seen" : "new";
  }

  /** Whether the request came before; throws, with its rows taken back, when only its name did. */
  #lookForRequest({ keys, isStored }: IngestRequest, batch: LogBatch): EventSighting {
    if (isStored === true) return "seen";
    if (keys === null) return "new";
    const name = this.#lookForEvent(keys.identity);
    if (name !== "new" && this.#lookForEvent(keys.content) === "new") {
      batch.rewindRequest();
      throw new IngestKeyReusedError();
    }
    return name;
  }

  /** Holds the keys for the open batch; they count as seen from now on and are remembered once it is durable. */
  #claimKeys(commit: Commit<LogBatch>, claims: readonly Uint32Array<ArrayBuffer>[]): void {
    const count = claims.reduce((sum, keys) => sum + keys.length, 0) / EVENT_KEY_WORDS;
    if (count === 0) return;
    const waiting = commit.keySet.size + (this.#syncing?.keySet.size ?? 0);
    if (!this.#options.events.hasRoomFor(waiting + count)) {
      commit.entries.rewindRequest();
      throw new IngestUnavailableError(
        "duplicates_full",
        "more event ids arrived within the deduplication window than the server may remember",
      );
    }
    for (const keys of claims) {
      for (let at = 0; at < keys.length; at += EVENT_KEY_WORDS) commit.keySet.add(keys, at);
      commit.keys.writeBytes(new Uint8Array(keys.buffer));
    }
  }

  #scheduleCommit(): void {
    if (this.#scheduled || this.#syncing !== null) return;
    this.#scheduled = true;
    // One turn of the event loop lets requests that arrived together share a sync.
    setImmediate(() => {
      this.#scheduled = false;
      void this.#commitNext();
    });
  }

  #takeOpen(): Commit<LogBatch> {
    const commit = this.#open;
    this.#open = newCommit(this.#spareBatch);
    return commit;
  }

  async #commitNext(): Promise<void> {
    const commit = this.#own.shift() ?? this.#takeOpen();
    const { observer } = this.#options;
    const startedAt = performance.now();
    this.#syncing = commit;
    const { entries } = commit;
    const { rows } = entries;
    try {
      if (rows > 0) await this.#writer.write(commit);
      observer.committed(rows, commit.requests, performance.now() - startedAt);
      commit.outcome.resolve();
    } catch (error) {
      observer.commitFailed(commit.requests, error);
      commit.outcome.reject(
        new IngestUnavailableError("write_failed", "the entries could not be made durable", { cause: error }),
      );
    } finally {
      if (entries instanceof LogBatch) {
        entries.clear();
        this.#spareBatch = entries;
      }
      this.#syncing = null;
      if (this.#own.length > 0 || this.#open.requests > 0) this.#scheduleCommit();
    }
  }
}

function isLarge(request: IngestRequest): request is IngestRequest & { apart: DecodingApart } {
  return request.apart !== undefined && request.bytes > DECODE_IN_PLACE_MAX_BYTES;
}

/** Whether a request is as large as a batch, and nothing of it is looked for among what came before. */
function isOwnRecord({ keys, isStored }: IngestRequest, { block, rows, hasEventIds }: DecodedBody): boolean {
  return rows > 0 && !hasEventIds && keys === null && isStored !== true && block.length > BATCH_MAX_BYTES;
}
