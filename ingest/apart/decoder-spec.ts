import { DeliveryDecoder, type UnpackedRecords } from "../decode/delivery-stream/delivery-decoder.ts";
import { DeploymentDrainDecoder } from "../decode/deployment-drain/drain-decoder.ts";
import { ElasticsearchBulk } from "../decode/elasticsearch-bulk/elasticsearch-bulk.ts";
import { ElasticsearchDocument } from "../decode/elasticsearch-bulk/elasticsearch-document.ts";
import type { DocumentPlace } from "../decode/elasticsearch-bulk/indexed-document.ts";
import { GelfDecoder } from "../decode/gelf/gelf-decoder.ts";
import { JournalDecoder } from "../decode/journal/journal-decoder.ts";
import { parseJsonObject } from "../decode/json-body.ts";
import { LogplexDecoder, type LogplexRequest } from "../decode/logplex/logplex-decoder.ts";
import { LokiProtobuf } from "../decode/loki-push/loki-protobuf.ts";
import { LokiPush } from "../decode/loki-push/loki-push.ts";
import { OtlpJsonDecoder, OtlpMetricsJsonDecoder, OtlpTracesJsonDecoder } from "../decode/otlp/otlp-json.ts";
import {
  OtlpMetricsProtobufDecoder,
  OtlpProtobufDecoder,
  OtlpTracesProtobufDecoder,
} from "../decode/otlp/otlp-protobuf.ts";
import { SplunkEvents } from "../decode/splunk-hec/splunk-event.ts";
import { type RawMetadata, SplunkRawText } from "../decode/splunk-hec/splunk-raw.ts";
import { SyslogRecords } from "../decode/syslog/syslog-records.ts";
import type { Mapping, SourceFormat } from "../mapping/mapping.ts";
import { sourceDecoder } from "../mapping/source-decoder.ts";
import type { RecordDecoder } from "../record/record-decoder.ts";

/** A decoder of a lenient format as data, which another thread can make the decoder of. */
export type RecordDecoderSpec =
  | {
      readonly kind:
        | "otlp"
        | "otlp-protobuf"
        | "otlp-metrics"
        | "otlp-metrics-protobuf"
        | "otlp-traces"
        | "otlp-traces-protobuf";
    }
  | {
      readonly kind:
        | "gelf"
        | "journal-export"
        | "loki-push"
        | "loki-protobuf"
        | "splunk-hec-event"
        | "platform-a";
    }
  | { readonly kind: "elasticsearch-bulk"; readonly defaultIndex: string }
  | { readonly kind: "elasticsearch-document"; readonly place: DocumentPlace }
  | { readonly kind: "splunk-hec-raw"; readonly about: RawMetadata }
  | { readonly kind: "platform-b"; readonly request: LogplexRequest }
  | {
      readonly kind: "stream-a";
      readonly records: UnpackedRecords | null;
      /** An object as JSON, because numbers that keep their digits do not survive a copy. */
      readonly attributes: string;
    }
  | {
      readonly kind: "source";
      readonly format: SourceFormat;
      readonly mapping: Mapping;
      readonly learning: boolean;
    };

/** A strict one. */
export interface StrictDecoderSpec {
  readonly kind: "native" | "ndjson";
}

export type DecoderSpec = RecordDecoderSpec | StrictDecoderSpec;

/** The decoder that a spec stands for; `now` is the time for texts that name no year. */
export function recordDecoderOf(spec: RecordDecoderSpec, now: () => number): RecordDecoder {
  switch (spec.kind) {
    case "otlp":
      return new OtlpJsonDecoder();
    case "otlp-protobuf":
      return new OtlpProtobufDecoder();
    case "otlp-metrics":
      return new OtlpMetricsJsonDecoder();
    case "otlp-metrics-protobuf":
      return new OtlpMetricsProtobufDecoder();
    case "otlp-traces":
      return new OtlpTracesJsonDecoder();
    case "otlp-traces-protobuf":
      return new OtlpTracesProtobufDecoder();
    case "journal-export":
      return new JournalDecoder();
    case "gelf":
      return new GelfDecoder();
    case "loki-push":
      return new LokiPush();
    case "loki-protobuf":
      return new LokiProtobuf();
    case "splunk-hec-event":
      return new SplunkEvents();
    case "platform-a":
      return new DeploymentDrainDecoder(now);
    case "elasticsearch-bulk":
      return new ElasticsearchBulk(spec.defaultIndex);
    case "elasticsearch-document":
      return new ElasticsearchDocument(spec.place);
    case "splunk-hec-raw":
      return new SplunkRawText(spec.about);
    case "platform-b":
      return new LogplexDecoder(new SyslogRecords({ now }), spec.request);
    case "stream-a":
      return new DeliveryDecoder(spec.records, parseJsonObject(spec.attributes), now);
    case "source":
      return sourceDecoder({ ...spec, now });
  }
}
