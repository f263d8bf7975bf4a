import { setImmediate as nextTurn } from "node:timers/promises";
import type { DecoderSpec } from "./apart/decoder-spec.ts";
import type { Commit } from "./commit.ts";
import { CommitQueue } from "./commit-queue.ts";
import { EVENT_KEY_WORDS } from "./dedupe/event-key.ts";
import { type EventSighting, findDuplicates } from "./dedupe/find-duplicates.ts";
import { requestSpan } from "./dedupe/request-keys.ts";
import type { EntryRules } from "./entry-rules.ts";
import type { EntrySlice } from "./entry-slice.ts";
import { IngestKeyReusedError, IngestUnavailableError, ManyRecordsError } from "./errors.ts";
import type { DecodingApart, IngestRequest, IngestResult } from "./ingest-request.ts";
import { LargeRequests } from "./large-requests.ts";
import { DECODE_IN_PLACE_MAX_BYTES, OTLP_DECODE_IN_PLACE_MAX_BYTES } from "./limits.ts";
import type { LogBatch } from "./log-batch.ts";
import type { IngestPipelineOptions } from "./pipeline-options.ts";
import { RequestCopy } from "./request-columns.ts";
import { asReceived, asRuled, type RequestEntries } from "./request-entries.ts";

/** How often a request waits for the fate of the same events in an earlier request. */
const MAX_ATTEMPTS = 8;

const NOTHING: ReadonlySet<number> = new Set();
const NO_KEYS = new Uint32Array(0);

/**
 * Turns requests into acknowledged, durable rows. Small ones are decoded into the batch that all of them share until it is
 * committed; large ones on another thread, into slices that are committed as they are.
 */
export class IngestPipeline {
  readonly #options: IngestPipelineOptions;
  readonly #commits: CommitQueue;
  readonly #large: LargeRequests;
  /** For entries that rules change. */
  readonly #copy = new RequestCopy();
  #inFlightBytes = 0;

  constructor(options: IngestPipelineOptions) {
    this.#options = options;
    this.#commits = new CommitQueue(options);
    this.#large = new LargeRequests(this.#commits, options.events);
  }

  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  /** See `CommitQueue`. */
  get idMark(): bigint {
    return this.#commits.idMark;
  }

  /**
   * Stores the entries of a request and resolves when they would survive the loss of every process and of power.
   * Rejects with IngestRejectedError (the request is invalid) or IngestUnavailableError (try again later); in both
   * cases nothing of it is stored.
   */
  async ingest(request: IngestRequest): Promise<IngestResult> {
    const found = this.#options.rulesOf?.(request.organizationId) ?? null;
    const rules = found instanceof Promise ? await found : found;
    const { apart } = request;
    if (apart !== undefined && request.bytes > inPlaceMaxBytes(apart.spec))
      return this.#ingestApart(request, apart, rules);
    this.#refuseWhenOverloaded(request.bytes);
    try {
      return await this.#whileInFlight(request, () => this.#storeSmall(request, rules));
    } catch (error) {
      if (apart === undefined || !(error instanceof ManyRecordsError)) throw error;
      return this.#ingestApart(request, apart, rules);
    }
  }

  /** Refuses new requests and resolves when all earlier ones are answered. */
  close(): Promise<void> {
    return this.#commits.close();
  }

  async #ingestApart(
    request: IngestRequest,
    apart: DecodingApart,
    rules: EntryRules | null,
  ): Promise<IngestResult> {
    // Those that wait for the other thread have a bound of their own, so that they keep nobody else out.
    const slices = await this.#decodeApart(request, apart);
    return this.#whileInFlight(request, () => this.#storeLarge(request, slices, rules));
  }

  async #whileInFlight<T>({ bytes }: IngestRequest, store: () => Promise<T>): Promise<T> {
    this.#inFlightBytes += bytes;
    try {
      return await store();
    } finally {
      this.#inFlightBytes -= bytes;
    }
  }

  #refuseWhenOverloaded(bytes: number): void {
    this.#commits.refuseWhenUnable();
    if (this.#inFlightBytes + bytes > this.#options.maxInFlightBytes && this.#inFlightBytes > 0)
      throw new IngestUnavailableError("in_flight", "too many log requests are in flight");
  }

  /** Decodes the body on the other thread. */
  async #decodeApart(
    { organizationId, keys }: IngestRequest,
    { spec, body, decoded }: DecodingApart,
  ): Promise<readonly EntrySlice[]> {
    const { now, thread } = this.#options;
    this.#commits.refuseWhenUnable();
    const made = await thread.decode({ organizationId, keys, receivedAtMs: now(), spec, body });
    decoded?.(made);
    // Others get a turn before anything is done with the entries.
    await nextTurn();
    return made.slices;
  }

  #storeLarge(
    request: IngestRequest,
    slices: readonly EntrySlice[],
    rules: EntryRules | null,
  ): Promise<IngestResult> {
    const startedAt = performance.now();
    return this.#large.store(request, slices, rules, ({ accepted, duplicates }) =>
      this.#observeDecoded(request, accepted, duplicates, startedAt),
    );
  }

  async #storeSmall(request: IngestRequest, rules: EntryRules | null): Promise<IngestResult> {
    const entries = rules === null ? asReceived(request) : asRuled(request, rules, this.#copy);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      while (this.#commits.isFullFor(request.bytes)) await this.#commits.open.closed.promise;
      this.#commits.refuseWhenUnable();
      const result = await this.#addToOpenBatch(request, entries);
      if (result !== null) return result;
    }
    throw new IngestUnavailableError("in_flight", "the same events are being sent many times at once");
  }

  /** Null when the request has to be tried again because what holds some of its events may still fail. */
  async #addToOpenBatch(request: IngestRequest, entries: RequestEntries): Promise<IngestResult | null> {
    const startedAt = performance.now();
    const commit = this.#commits.open;
    const { batch } = commit;
    const receivedAtMs = this.#options.now();
    const decode = (skip: ReadonlySet<number>): void => {
      batch.beginRequest(request.organizationId, receivedAtMs);
      try {
        entries.append(batch, skip);
      } catch (error) {
        batch.rewindRequest();
        throw error;
      }
    };
    decode(NOTHING);
    const accepted = batch.requestRows + entries.dropped;
    const repeated = this.#lookForRequest(request, batch);
    const found = findDuplicates(batch, request.organizationId, (key) => this.#lookForEvent(key));
    if (found.isUndecided || repeated === "undecided") {
      batch.rewindRequest();
      await this.#decision();
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
    this.#observeDecoded(request, accepted, duplicates, startedAt);
    // A request of nothing but duplicates waits as well: they may be of the same batch.
    this.#commits.added();
    await commit.outcome.promise;
    if (!replayed) entries.applied();
    return { accepted, duplicates, replayed };
  }

  #observeDecoded(request: IngestRequest, accepted: number, duplicates: number, startedAt: number): void {
    const durationMs = performance.now() - startedAt;
    this.#options.observer.decoded(request.format, accepted, duplicates, request.bytes, durationMs);
  }

  #lookForEvent(key: Uint32Array): EventSighting {
    const holder = this.#commits.holderOf(key, 0);
    if (this.#large.claims.has(key, 0) || (holder !== null && holder === this.#commits.syncing))
      return "undecided";
    return holder !== null || this.#options.events.has(key, 0) ? "seen" : "new";
  }

  /** Resolves when it is decided what becomes of the events that others have claimed by now. */
  async #decision(): Promise<void> {
    await this.#commits.syncing?.outcome.promise.catch(() => undefined);
    await this.#large.claims.ended();
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
  #claimKeys(commit: Commit, claims: readonly Uint32Array<ArrayBuffer>[]): void {
    const count = claims.reduce((sum, keys) => sum + keys.length, 0) / EVENT_KEY_WORDS;
    if (count === 0) return;
    try {
      this.#commits.refuseKeys(this.#large.claims.size + count);
    } catch (error) {
      commit.batch.rewindRequest();
      throw error;
    }
    for (const keys of claims) {
      for (let at = 0; at < keys.length; at += EVENT_KEY_WORDS) commit.keySet.add(keys, at);
      commit.keys.writeBytes(new Uint8Array(keys.buffer));
    }
  }
}

/** Bytes of a body of which the trip to the other thread costs more than others wait for it here. */
function inPlaceMaxBytes({ kind }: DecoderSpec): number {
  return kind === "otlp" ? OTLP_DECODE_IN_PLACE_MAX_BYTES : DECODE_IN_PLACE_MAX_BYTES;
}
