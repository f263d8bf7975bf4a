import type { DecodedBody } from "./apart/decode-body.ts";
import type { DecoderSpec } from "./apart/decoder-spec.ts";
import type { RequestKeys } from "./dedupe/request-keys.ts";
import type { LogBatch } from "./log-batch.ts";

/** One request to be stored whole or not at all. */
export interface IngestRequest {
  organizationId: number;
  /** Name of the body's format, for the observer. */
  format: string;
  /** Size of the unpacked body, for the bound on requests in flight. */
  bytes: number;
  /** For a request that names itself: a repetition within the window is answered and not stored again. */
  keys: RequestKeys | null;
  /** The request is known to repeat an earlier one, of whichever server: it is answered and not stored. */
  isStored?: boolean;
  /**
   * Appends the entries to `batch`, without those whose positions are in `skip`, or throws IngestRejectedError.
   * Called within a request of the batch, once or twice. Where the body may be decoded elsewhere it may throw ManyRecordsError,
   * too.
   */
  decode: (batch: LogBatch, skip: ReadonlySet<number>) => void;
  /** How to decode the body elsewhere when it is a large one or has many records; absent where none is. */
  apart?: DecodingApart | undefined;
}

/** A body that may be decoded on another thread. */
export interface DecodingApart {
  readonly spec: DecoderSpec;
  /** Given away. */
  readonly body: Uint8Array;
  /** Hears what the body holds, instead of `decode` being called; may throw IngestRejectedError. */
  readonly decoded?: (body: DecodedBody) => void;
}

export interface IngestResult {
  /** Entries that are durable now, repeated ones included. */
  accepted: number;
  /** How many of them had been stored before, under the same event id or with the same request. */
  duplicates: number;
  /** The whole request repeats an earlier one. */
  replayed: boolean;
}
