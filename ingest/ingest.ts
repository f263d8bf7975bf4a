import { DecodeThread } from "./apart/decode-thread.ts";
import type { CommittedBatches } from "./committed-batches.ts";
import { type DeliveryEnvelope, readDeliveryEnvelope } from "./decode/delivery-stream/delivery-envelope.ts";
import { EventWindow } from "./dedupe/event-window.ts";
import { keyWords } from "./dedupe/request-keys.ts";
import { Flusher } from "./flusher.ts";
import type { IngestRequest, IngestResult } from "./ingest-request.ts";
import { DECODE_IN_PLACE_MAX_BYTES } from "./limits.ts";
import { type InstanceNumber, LogIdGenerator } from "./log-id.ts";
import type { LogStore } from "./log-store.ts";
import type { IngestObserver } from "./observer.ts";
import { IngestPipeline } from "./pipeline.ts";
import type { RulesOf } from "./request-entries.ts";
import { openWal, type Wal } from "./wal/wal.ts";

/** Bytes of one segment file: the log gives disk space back in steps of this size. */
const SEGMENT_BYTES = 64 * 1024 * 1024;

export interface IngestOptions {
  /** The write-ahead log's directory; nobody else may use it at the same time. */
  directory: string;
  store: LogStore;
  observer: IngestObserver;
  /** For the ids; without a number requests are refused until there is one. */
  instance: InstanceNumber;
  /** Bound of the write-ahead log. */
  walMaxBytes: number;
  /** Unpacked bytes of requests that are not yet answered. */
  maxInFlightBytes: number;
  /** How long a repeated event id is noticed, while `dedupeMaxKeys` suffice. */
  dedupeWindowMs: number;
  /** Event ids remembered at the same time. */
  dedupeMaxKeys: number;
  now: () => number;
  /** Hears of every batch that is durable. */
  committed?: CommittedBatches | undefined;
  /** What becomes of entries before they are stored; absent or null where they are stored as they come. */
  rulesOf?: RulesOf | undefined;
  /**
   * Which requests, by their identity, others have stored since an earlier process left them in the log: their entries
   * are not flushed. Asked before any of that is, and again when it rejects. None when absent.
   */
  takenOver?: ((log: Pick<Ingest, "wal" | "events">) => Promise<readonly Uint32Array[]>) | undefined;
  /** Hears, in order, of the last entry of what the store has by now; see `Flusher`. */
  stored?: ((lastId: bigint) => void) | undefined;
  /** The log failed for good, for example because the disk refused a sync: stop the process, the next start recovers. */
  onFatal: (error: unknown) => void;
}

/** The ingest side of the server: open it once, hand it requests, close it last. */
export interface Ingest {
  readonly wal: Wal;
  readonly events: EventWindow;
  ingest(request: IngestRequest): Promise<IngestResult>;
  /** `readDeliveryEnvelope`, of a large body on another thread, to which it is given away. Rejects with IngestUnavailableError, too. */
  openDelivery(organizationId: number, body: Uint8Array): Promise<DeliveryEnvelope>;
  /** The batches that `committed` has heard of have ids at or below it, all later ones ids above it. */
  idMark(): bigint;
  /** Refuses new requests, answers the earlier ones, flushes for at most `flushDeadlineMs` and closes the log. */
  close(flushDeadlineMs: number): Promise<void>;
}

/** Recovers the log, remembers its recent event ids and starts to flush. Rejects when the log cannot be opened. */
export async function openIngest(options: IngestOptions): Promise<Ingest> {
  const { store, observer, now } = options;
  const events = new EventWindow({ windowMs: options.dedupeWindowMs, maxKeys: options.dedupeMaxKeys, now });
  const wal = await openWal({
    directory: options.directory,
    maxBytes: options.walMaxBytes,
    segmentBytes: Math.min(SEGMENT_BYTES, Math.floor(options.walMaxBytes / 2)),
    keyRetentionMs: options.dedupeWindowMs,
    keysWantedSinceMs: () => events.sinceMs,
    clock: now,
    onFatal: options.onFatal,
  });
  for await (const { keys, receivedAtMs } of wal.recoveredKeys())
    events.restore(keyWords(keys), receivedAtMs);
  const flusher = new Flusher({
    wal,
    store,
    observer,
    takenOver: async () => (await options.takenOver?.({ wal, events })) ?? [],
    stored: options.stored,
  });
  const thread = new DecodeThread();
  const pipeline = new IngestPipeline({
    log: wal,
    thread,
    ids: new LogIdGenerator(options.instance, now),
    events,
    maxInFlightBytes: options.maxInFlightBytes,
    now,
    observer,
    committed: options.committed,
    rulesOf: options.rulesOf,
  });
  flusher.run().catch(options.onFatal);
  return {
    wal,
    events,
    ingest: (request) => pipeline.ingest(request),
    openDelivery: async (organizationId, body) =>
      body.length > DECODE_IN_PLACE_MAX_BYTES
        ? thread.open(organizationId, body)
        : readDeliveryEnvelope(body),
    idMark: () => pipeline.idMark,
    close: async (flushDeadlineMs) => {
      await pipeline.close();
      thread.close();
      await flusher.drain(flushDeadlineMs);
      await wal.close();
    },
  };
}
