import type { RejectedRecord } from "../../ingest/index.ts";

/** The records of one request that could not become entries. */
export interface QuarantinedBatch {
  readonly organizationId: number;
  readonly format: string;
  /** The configured source they came through. */
  readonly sourceKey: string | null;
  /** What the sender repeats when it retries the request; a repetition is kept once. */
  readonly requestIdentity: string | null;
  readonly records: readonly RejectedRecord[];
}

/** Where records go that could not become entries. */
export interface QuarantineSink {
  /** Keeps records durably and answers how many: fewer than there were when some are too large or the quarantine is full. */
  keep(batch: QuarantinedBatch): Promise<number>;
}
