export { type BulkItemKind, jsonBytes, type PackedItems, packItems } from "./apart/bulk-items.ts";
export type { DecodedBody } from "./apart/decode-body.ts";
export type { RecordDecoderSpec } from "./apart/decoder-spec.ts";
export { TurnQueue } from "./apart/turn-queue.ts";
export type { CommittedBatch, CommittedBatches } from "./committed-batches.ts";
export { CommittedBlock } from "./committed-block.ts";
export { CefDecoder } from "./decode/cef/cef-decoder.ts";
export {
  DeliveryDecoder,
  placeOfRecord,
  type UnpackedRecords,
} from "./decode/delivery-stream/delivery-decoder.ts";
export {
  type DeliveryEnvelope,
  readCommonAttributes,
  readDeliveryEnvelope,
} from "./decode/delivery-stream/delivery-envelope.ts";
export { DeploymentDrainDecoder } from "./decode/deployment-drain/drain-decoder.ts";
export { ElasticsearchBulk } from "./decode/elasticsearch-bulk/elasticsearch-bulk.ts";
export { ElasticsearchDocument } from "./decode/elasticsearch-bulk/elasticsearch-document.ts";
export type { DocumentPlace } from "./decode/elasticsearch-bulk/indexed-document.ts";
export { ForwardDecoder } from "./decode/forward/forward-decoder.ts";
export { decodeValue, encodeValue } from "./decode/forward/message-pack.ts";
export { chunkOf } from "./decode/forward/message-parts.ts";
export { ValueScanner } from "./decode/forward/value-scanner.ts";
export { GelfDecoder, RelayedGelf } from "./decode/gelf/gelf-decoder.ts";
export { NulFrames } from "./decode/gelf/nul-frames.ts";
export { JournalDecoder } from "./decode/journal/journal-decoder.ts";
export { JournalEntries } from "./decode/journal/journal-entries.ts";
export { isJsonObject, type JsonObject, numberText, parseJson } from "./decode/json-body.ts";
export { LogplexDecoder } from "./decode/logplex/logplex-decoder.ts";
export { LokiProtobuf } from "./decode/loki-push/loki-protobuf.ts";
export { LokiPush } from "./decode/loki-push/loki-push.ts";
export { NativeFormat } from "./decode/native.ts";
export { NdjsonFormat } from "./decode/ndjson/ndjson.ts";
export { OtlpJsonDecoder, OtlpMetricsJsonDecoder, OtlpTracesJsonDecoder } from "./decode/otlp/otlp-json.ts";
export {
  OtlpMetricsProtobufDecoder,
  OtlpProtobufDecoder,
  OtlpTracesProtobufDecoder,
} from "./decode/otlp/otlp-protobuf.ts";
export { snappyLength } from "./decode/snappy.ts";
export { SplunkEvents } from "./decode/splunk-hec/splunk-event.ts";
export { SplunkRawText } from "./decode/splunk-hec/splunk-raw.ts";
export { RelayedFrames } from "./decode/syslog/relayed-frames.ts";
export { StreamFrames } from "./decode/syslog/stream-frames.ts";
export { SyslogDecoder } from "./decode/syslog/syslog-decoder.ts";
export { SyslogRecords } from "./decode/syslog/syslog-records.ts";
export { requestIdentity, requestKeys } from "./dedupe/request-keys.ts";
export { type EntryColumns, indexedText, LEVEL_NAMES, type TextSlices, textAt } from "./entry-columns.ts";
export {
  type EntryAction,
  type EntryRule,
  EntryRules,
  type EntryRulesOptions,
  type RowTest,
} from "./entry-rules.ts";
export {
  type IngestIssue,
  IngestKeyReusedError,
  IngestRejectedError,
  IngestUnavailableError,
} from "./errors.ts";
export { type Ingest, type IngestOptions, openIngest } from "./ingest.ts";
export type { IngestRequest, IngestResult } from "./ingest-request.ts";
export { DECODE_IN_PLACE_MAX_RECORDS, REQUEST_MAX_RECORDS } from "./limits.ts";
export { LEVEL_NUMBERS, type Level, LogBatch } from "./log-batch.ts";
export { firstLogIdAt, INSTANCE_COUNT, LOG_ID_EPOCH_MS, LOG_ID_STEP, logIdMs } from "./log-id.ts";
export type { EntryIds, EntrySpan, LogStore } from "./log-store.ts";
export { inferMapping } from "./mapping/infer/infer-mapping.ts";
export type { SourceDecoder } from "./mapping/learned-texts.ts";
export type { FieldMapping, Mapping, SourceFormat } from "./mapping/mapping.ts";
export { PRESETS, presetOf } from "./mapping/presets/presets.ts";
export { previewBody } from "./mapping/preview.ts";
export { sourceDecoder, sourceRecordDecoder } from "./mapping/source-decoder.ts";
export { mappingIssues } from "./mapping/validate-mapping.ts";
export type { EntryTexts } from "./masking/entry-texts.ts";
export { EntryMasker, MASKABLE_COLUMNS, type Mask } from "./masking/mask.ts";
export { MASK_PATTERN_NAMES } from "./masking/patterns.ts";
export { RawMasker } from "./masking/raw-masker.ts";
export { ByteBuffer } from "./native/byte-buffer.ts";
export { freeBuffer, freeBytes } from "./native/free-bytes.ts";
export type { IngestObserver } from "./observer.ts";
export { LEVEL_WORDS } from "./record/levels.ts";
export type { RecordDecoder } from "./record/record-decoder.ts";
export { RecordWriter } from "./record/record-writer.ts";
export type { RejectedRecord } from "./record/rejections.ts";
