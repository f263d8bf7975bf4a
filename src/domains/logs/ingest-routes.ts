import { Type } from "typebox";
import {
  type Ingest,
  type IngestRequest,
  type IngestResult,
  LEVEL_WORDS,
  NativeFormat,
  NdjsonFormat,
  requestKeys,
} from "../../../ingest/index.ts";
import { route } from "../../http/define-route.ts";
import { keySpaceOf } from "../../http/ledger/idempotency.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import { throwForClient } from "../../receive/ingest-refusals.ts";
import { readLogBody } from "../../receive/receive-records.ts";
import { countLogBytes, type LogByteCaps } from "../../usage/count-log-bytes.ts";

/** Entries a line instead of an array: what the tools call it that send it. */
const NDJSON_TYPES = [
  "application/x-ndjson",
  "application/ndjson",
  "application/jsonl",
  "application/stream+json",
];

/** What the decoder of `ingest/` enforces, for the documentation. */
const LogEntry = Type.Object(
  {
    message: Type.String({ minLength: 1, maxLength: 8192, examples: ["payment failed: card declined"] }),
    ts: Type.Optional(
      Type.Union([Type.String({ format: "date-time" }), Type.Integer({ exclusiveMinimum: 0 })], {
        examples: ["2026-03-01T11:59:58.734Z"],
        description:
          "RFC 3339 date-time, or epoch seconds, milli-, micro- or nanoseconds by magnitude. The time of receipt when absent.",
      }),
    ),
    level: Type.Optional(
      Type.Enum([...LEVEL_WORDS], {
        description:
          "In any case. What loggers call it is stored as trace, debug, info, warn, error or fatal.",
      }),
    ),
    service: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    source: Type.Optional(Type.String({ maxLength: 255 })),
    host: Type.Optional(Type.String({ maxLength: 255 })),
    attrs: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: "Values keep their JSON types." }),
    ),
    event_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: "Repeats within a day are stored once, ten minutes at least.",
      }),
    ),
  },
  {
    $id: "NewLogEntry",
    additionalProperties: false,
    examples: [
      {
        message: "payment failed: card declined",
        ts: "2026-03-01T11:59:58.734Z",
        level: "error",
        service: "checkout",
        attrs: { status: 502 },
      },
    ],
  },
);

const IngestAnswer = Type.Object(
  {
    accepted: Type.Integer({ description: "Entries that are durable now.", examples: [1] }),
    duplicates: Type.Integer({
      description: "How many of them had been stored before under the same event_id.",
      examples: [0],
    }),
  },
  { $id: "Ingested" },
);

interface LogIngestDependencies {
  readonly ingest: Pick<Ingest, "ingest">;
  readonly caps: LogByteCaps;
}

/** Routes that take logs in. */
export function logIngestRoutes({ ingest, caps }: LogIngestDependencies) {
  const native = new NativeFormat();
  const ndjson = new NdjsonFormat();
  return [
    route({
      method: "POST",
      path: "/api/v1/logs/ingest",
      tag: "Logs",
      summary: "Store log entries; answered once they are durable",
      access: { role: "member", scope: "logs:write" },
      rateLimit: "ingest",
      effect: "ingest",
      body: {
        kind: "raw",
        contentTypes: ["application/json", ...NDJSON_TYPES],
        documented: Type.Union([LogEntry, Type.Array(LogEntry, { minItems: 1, maxItems: 500 })], {
          description: "In NDJSON 1 to 500 entries, one a line; lines of white space do not count.",
        }),
      },
      responses: { 202: { description: "Stored durably, searchable within a second", schema: IngestAnswer } },
      errors: ["PLAN_LIMIT_LOG_BYTES"],
      handler: async (context) => {
        const body = await readLogBody(context);
        const isLines = isNdjson(context.request);
        const format = isLines ? ndjson : native;
        const request: IngestRequest = {
          organizationId: context.principal.organizationId,
          format: isLines ? "ndjson" : "native",
          bytes: body.length,
          keys: keysOf(context, body),
          isStored: context.requestName?.isStored === true,
          decode: (batch, skip) => format.decode(body, batch, skip),
          apart: { spec: { kind: isLines ? "ndjson" : "native" }, body },
        };
        const store = (): Promise<IngestResult> => ingest.ingest(request).catch(throwForClient);
        const result = await countLogBytes(caps, context.principal, body.length, store);
        const { replayed, ...answer } = result;
        return { status: 202, body: answer, headers: replayed ? { "Idempotent-Replayed": "true" } : {} };
      },
    }),
  ];
}

/** Of the content types that the route takes. */
function isNdjson(request: Request): boolean {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";", 1);
  return NDJSON_TYPES.includes(type.trim().toLowerCase());
}

/**
 * The keys of a request with an `Idempotency-Key`. They are written with its entries, so a repetition is recognised
 * exactly when the entries are stored, also when the server died before it could remember its answer.
 */
function keysOf({ requestName, principal }: AuthenticatedContext, body: Uint8Array): IngestRequest["keys"] {
  if (requestName === null) return null;
  return requestKeys(principal.organizationId, keySpaceOf(principal), requestName.storedAs, body);
}
