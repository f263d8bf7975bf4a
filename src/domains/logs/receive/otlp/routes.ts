import { Type } from "typebox";
import {
  OtlpJsonDecoder,
  OtlpMetricsJsonDecoder,
  OtlpMetricsProtobufDecoder,
  OtlpProtobufDecoder,
  OtlpTracesJsonDecoder,
  OtlpTracesProtobufDecoder,
  type RecordDecoder,
} from "../../../../../ingest/index.ts";
import { route } from "../../../../http/define-route.ts";
import type { AuthenticatedContext, Reply } from "../../../../http/route.ts";
import { type LogReceiver, RECEIVE_ERRORS, readLogBody } from "../../../../receive/receive-records.ts";
import { exportAnswer, type Rejected } from "./answers.ts";
import { isProtobuf, PROTOBUF_TYPES, statusBody, statusMembers } from "./encodings.ts";
import { PROTOBUF_TYPE } from "./protobuf-answers.ts";
import {
  ExportLogsServiceRequest,
  ExportLogsServiceResponse,
  ExportMetricsServiceRequest,
  ExportMetricsServiceResponse,
  ExportTraceServiceRequest,
  ExportTraceServiceResponse,
  StatusMembers,
} from "./schemas.ts";

interface OtlpOptions {
  /** Whether requests may be in protobuf. */
  readonly protobuf: boolean;
}

/** The decoders of a signal, and what it calls what they reject. */
interface SignalReceiver {
  readonly json: RecordDecoder;
  readonly protobuf: RecordDecoder;
  readonly apartJson: "otlp" | "otlp-metrics" | "otlp-traces";
  readonly apartProtobuf: "otlp-protobuf" | "otlp-metrics-protobuf" | "otlp-traces-protobuf";
  readonly rejected: Rejected;
}

const BINARY = Type.String({ description: "The same message in protobuf." });

/** What all signals have in common. */
const SIGNAL = {
  method: "POST",
  tag: "Log receivers",
  access: { role: "member", scope: "logs:write" },
  rateLimit: "ingest",
  refusalMembers: statusMembers,
  refusalSchema: StatusMembers,
  refusalBody: statusBody,
  refusalType: PROTOBUF_TYPE,
} as const;

/** OTLP over HTTP; exporters append `/v1/logs` to the base `/api/v1/otlp` themselves. */
export function otlpRoutes(receiver: Pick<LogReceiver, "receive">, { protobuf }: OtlpOptions) {
  const contentTypes = ["application/json", ...(protobuf ? PROTOBUF_TYPES : [])];
  const alternatives = { [PROTOBUF_TYPE]: BINARY };
  const logs: SignalReceiver = {
    json: new OtlpJsonDecoder(),
    protobuf: new OtlpProtobufDecoder(),
    apartJson: "otlp",
    apartProtobuf: "otlp-protobuf",
    rejected: { what: "log records", member: "rejectedLogRecords", hasPlaces: true },
  };
  const metrics: SignalReceiver = {
    json: new OtlpMetricsJsonDecoder(),
    protobuf: new OtlpMetricsProtobufDecoder(),
    apartJson: "otlp-metrics",
    apartProtobuf: "otlp-metrics-protobuf",
    rejected: { what: "data points", member: "rejectedDataPoints", hasPlaces: false },
  };
  const traces: SignalReceiver = {
    json: new OtlpTracesJsonDecoder(),
    protobuf: new OtlpTracesProtobufDecoder(),
    apartJson: "otlp-traces",
    apartProtobuf: "otlp-traces-protobuf",
    rejected: { what: "spans", member: "rejectedSpans", hasPlaces: false },
  };
  return [
    route({
      ...SIGNAL,
      path: "/api/v1/otlp/v1/logs",
      summary: "OTLP logs over HTTP; answered once they are durable",
      effect: "ingest",
      body: { kind: "raw", contentTypes, documented: ExportLogsServiceRequest },
      responses: {
        200: {
          description: "Stored durably, searchable within a second; what was rejected is named.",
          schema: ExportLogsServiceResponse,
          alternatives,
        },
      },
      errors: RECEIVE_ERRORS,
      handler: (context) => receiveSignal(receiver, context, logs),
    }),
    route({
      ...SIGNAL,
      path: "/api/v1/otlp/v1/metrics",
      summary: "OTLP metrics over HTTP: sums and gauges become log entries",
      effect: "ingest",
      body: { kind: "raw", contentTypes, documented: ExportMetricsServiceRequest },
      responses: {
        200: {
          description: "Points of sums and gauges are durable; what was left out is named.",
          schema: ExportMetricsServiceResponse,
          alternatives,
        },
      },
      errors: RECEIVE_ERRORS,
      handler: (context) => receiveSignal(receiver, context, metrics),
    }),
    route({
      ...SIGNAL,
      path: "/api/v1/otlp/v1/traces",
      summary: "OTLP traces over HTTP: spans about generative AI become log entries",
      effect: "ingest",
      body: { kind: "raw", contentTypes, documented: ExportTraceServiceRequest },
      responses: {
        200: {
          description: "Spans about generative AI are durable; how many others were left out is said.",
          schema: ExportTraceServiceResponse,
          alternatives,
        },
      },
      errors: RECEIVE_ERRORS,
      handler: (context) => receiveSignal(receiver, context, traces),
    }),
  ];
}

async function receiveSignal(
  receiver: Pick<LogReceiver, "receive">,
  context: AuthenticatedContext,
  { json, protobuf, apartJson, apartProtobuf, rejected }: SignalReceiver,
): Promise<Reply> {
  const isPacked = isProtobuf(context.request);
  const received = await receiver.receive({
    principal: context.principal,
    body: await readLogBody(context),
    decoder: isPacked ? protobuf : json,
    apart: { kind: isPacked ? apartProtobuf : apartJson },
    requestName: context.requestName,
    sourceKey: null,
    quarantines: false,
  });
  return exportAnswer(context.request, received, rejected);
}
