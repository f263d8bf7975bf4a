import type { Reply } from "../../../../http/route.ts";
import type { Received } from "../../../../receive/receive-records.ts";
import { isProtobuf } from "./encodings.ts";
import { protobufResponse } from "./protobuf-answers.ts";

/** Reasons that an answer names; an exporter writes the text to its log. */
const DESCRIBED_MAX_COUNT = 5;

/** What a signal calls what it carries. */
export interface Rejected {
  readonly what: string;
  /** The member that counts those that were rejected. */
  readonly member: "rejectedLogRecords" | "rejectedDataPoints" | "rejectedSpans";
  /** Whether reasons stand with their places, or each once without. */
  readonly hasPlaces: boolean;
}

/**
 * What became of a request, in the encoding that it came in. Source: OpenTelemetry Protocol specification, "Partial
 * Success"; the count is an int64, which the JSON mapping of protobuf writes as a text.
 */
export function exportAnswer(request: Request, received: Received, kind: Rejected): Reply {
  const { rejected } = received;
  const headers = received.replayed ? { "Idempotent-Replayed": "true" } : {};
  const errorMessage = rejected === 0 ? "" : describe(received, kind);
  if (isProtobuf(request)) return { status: 200, encoded: protobufResponse(rejected, errorMessage), headers };
  const body = rejected === 0 ? {} : { partialSuccess: { [kind.member]: String(rejected), errorMessage } };
  return { status: 200, body, headers };
}

function describe({ rejected, errors }: Received, { what, hasPlaces }: Rejected): string {
  const head = `${rejected} ${what} were rejected: `;
  if (!hasPlaces) {
    const reasons = [...new Set(errors.map(({ reason }) => reason))];
    const more = reasons.length > DESCRIBED_MAX_COUNT ? "; and others" : "";
    return `${head}${reasons.slice(0, DESCRIBED_MAX_COUNT).join("; ")}${more}`;
  }
  const described = errors.slice(0, DESCRIBED_MAX_COUNT).map(({ place, reason }) => `${place}: ${reason}`);
  const others = rejected - described.length;
  return `${head}${described.join("; ")}${others > 0 ? `; and ${others} more` : ""}`;
}
