export type { CommittedBatch, CommittedBatches } from "./committed-batches.ts";
export { CommittedBlock, indexedText, type TextSlices, textAt } from "./committed-block.ts";
export {
  decodeUtf8,
  isJsonObject,
  type JsonObject,
  numberText,
  parseJson,
  tryParseJson,
} from "./decode/json-body.ts";
export { NativeFormat } from "./decode/native.ts";
export { requestKeys } from "./dedupe/request-keys.ts";
export {
  type IngestIssue,
  IngestKeyReusedError,
  IngestRejectedError,
  IngestUnavailableError,
} from "./errors.ts";
export { type Ingest, type IngestOptions, openIngest } from "./ingest.ts";
export { LEVEL_NUMBERS, type Level, LogBatch } from "./log-batch.ts";
export { INSTANCE_COUNT, LOG_ID_EPOCH_MS, LOG_ID_STEP } from "./log-id.ts";
export type { LogStore } from "./log-store.ts";
export type { IngestObserver } from "./observer.ts";
export type { IngestRequest, IngestResult } from "./pipeline.ts";
export type { RecordDecoder } from "./record/record-decoder.ts";
export { RecordWriter } from "./record/record-writer.ts";
export type { RejectedRecord } from "./record/rejections.ts";
