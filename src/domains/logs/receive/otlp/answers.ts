import type { ApiError } from "../../../../errors.ts";
import type { Received } from "../../../../receive/receive-records.ts";

/** Rejected records that an answer describes; an exporter writes the text to its log. */
const DESCRIBED_MAX_COUNT = 5;

const PROTOBUF = /^application\/(x-)?(vnd\.google\.)?protobuf/;
const PROTOBUF_REFUSED =
  "OTLP is accepted in its JSON encoding only, as application/json, not as protobuf. Set " +
  "OTEL_EXPORTER_OTLP_PROTOCOL=http/json in an SDK, or `encoding: json` of the otlphttp exporter in a collector.";

interface ExportLogsServiceResponse {
  readonly partialSuccess?: { readonly rejectedLogRecords: string; readonly errorMessage: string };
}

/**
 * What became of a request. Source: OpenTelemetry Protocol specification, "Partial Success"; the count is an int64, which
 * the JSON mapping of protobuf writes as a text.
 */
export function partialSuccess({ rejected, errors }: Received): ExportLogsServiceResponse {
  if (rejected === 0) return {};
  const described = errors.slice(0, DESCRIBED_MAX_COUNT).map(({ place, reason }) => `${place}: ${reason}`);
  const others = rejected - described.length;
  const more = others > 0 ? `; and ${others} more` : "";
  return {
    partialSuccess: {
      rejectedLogRecords: String(rejected),
      errorMessage: `${rejected} log records were rejected: ${described.join("; ")}${more}`,
    },
  };
}

/**
 * The members of a google.rpc.Status, whose text exporters look for, besides our envelope. Its `code` is left out, which
 * the protocol allows: that member is the envelope's.
 */
export function statusMembers(request: Request, error: ApiError): Readonly<Record<string, unknown>> {
  const type = request.headers.get("content-type") ?? "";
  if (error.code === "UNSUPPORTED_MEDIA_TYPE" && PROTOBUF.test(type.toLowerCase()))
    return { error: PROTOBUF_REFUSED, message: PROTOBUF_REFUSED };
  return { message: error.message };
}
