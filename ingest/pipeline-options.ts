import type { DecodeThread } from "./apart/decode-thread.ts";
import type { CommittedBatches } from "./committed-batches.ts";
import type { EventWindow } from "./dedupe/event-window.ts";
import type { LogIdGenerator } from "./log-id.ts";
import type { IngestObserver } from "./observer.ts";
import type { RulesOf } from "./request-entries.ts";
import type { WalAppend } from "./wal/types.ts";

/** What the pipeline needs of the write-ahead log. */
interface BatchLog {
  append(...records: readonly WalAppend[]): Promise<unknown>;
  readonly bytes: number;
  readonly maxBytes: number;
}

export interface IngestPipelineOptions {
  log: BatchLog;
  /** Decodes large bodies. */
  thread: Pick<DecodeThread, "decode">;
  ids: LogIdGenerator;
  events: EventWindow;
  /** Unpacked bytes of requests that are not yet answered. */
  maxInFlightBytes: number;
  now: () => number;
  observer: IngestObserver;
  /** Hears of what is durable; nobody does when absent. */
  committed?: CommittedBatches | undefined;
  /** What becomes of entries before they are stored; absent or null where they are stored as they come. */
  rulesOf?: RulesOf | undefined;
}
