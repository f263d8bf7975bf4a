export type { CommittedBatch, CommittedBatches } from "./committed-batches.ts";
export { CommittedBlock, indexedText, type TextSlices, textAt } from "./committed-block.ts";
export { NativeFormat } from "./decode/native.ts";
export { requestKeys } from "./dedupe/request-keys.ts";
export {
  type IngestIssue,
  IngestKeyReusedError,
  IngestRejectedError,
  IngestUnavailableError,
} from "./errors.ts";
export { type Ingest, type IngestOptions, openIngest } from "./ingest.ts";
export { LEVEL_NUMBERS, type Level } from "./log-batch.ts";
export { INSTANCE_COUNT, LOG_ID_EPOCH_MS, LOG_ID_STEP } from "./log-id.ts";
export type { LogStore } from "./log-store.ts";
export type { IngestObserver } from "./observer.ts";
export type { IngestRequest, IngestResult } from "./pipeline.ts";
