import type { ApiError } from "../../../../errors.ts";
import type { EncodedBody } from "../../../../http/encoded-body.ts";
import { PROTOBUF_TYPE, protobufStatus } from "./protobuf-answers.ts";

/** How SDKs, collectors and older libraries name protobuf. */
export const PROTOBUF_TYPES: readonly string[] = [
  PROTOBUF_TYPE,
  "application/protobuf",
  "application/vnd.google.protobuf",
  "application/x-google-protobuf",
];

const PROTOBUF_REFUSED =
  "OTLP is accepted in its JSON encoding only, as application/json, not as protobuf. Either set OTLP_PROTOBUF=1 at the " +
  "server, or send JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json in an SDK that has it, `encoding: json` of the otlp_http " +
  "exporter in a collector.";

/** Whether a request is in protobuf, and so whoever sent it reads protobuf. */
export function isProtobuf(request: Request): boolean {
  const type = request.headers.get("content-type") ?? "";
  return PROTOBUF_TYPES.includes(type.toLowerCase().split(";", 1)[0]?.trim() ?? "");
}

/**
 * The members of a google.rpc.Status, whose text exporters look for, besides our envelope. Its `code` is left out, which
 * the protocol allows: that member is the envelope's.
 */
export function statusMembers(request: Request, error: ApiError): Readonly<Record<string, unknown>> {
  const message = messageOf(request, error);
  return { error: message, message };
}

/** The google.rpc.Status itself, for senders of protobuf. */
export function statusBody(request: Request, error: ApiError): EncodedBody | null {
  return isProtobuf(request) ? protobufStatus(error.status, messageOf(request, error)) : null;
}

function messageOf(request: Request, error: ApiError): string {
  return error.code === "UNSUPPORTED_MEDIA_TYPE" && isUnreadProtobuf(request, error)
    ? PROTOBUF_REFUSED
    : error.message;
}

/** Encodings of content are refused with the same code. */
function isUnreadProtobuf(request: Request, error: ApiError): boolean {
  return isProtobuf(request) && error.message.startsWith("The content type");
}
