import { Type } from "typebox";
import { LokiProtobuf, LokiPush, snappyLength } from "../../../../../ingest/index.ts";
import { validationFailed } from "../../../../errors.ts";
import { route } from "../../../../http/define-route.ts";
import { MAX_BODY_BYTES } from "../../../../http/limits.ts";
import { readPackedBody } from "../../../../http/read-body.ts";
import type { AuthenticatedContext } from "../../../../http/route.ts";
import { tooLarge } from "../../../../http/unpack.ts";
import { authorizationToken } from "../../../../receive/authorization-token.ts";
import { throwForClient } from "../../../../receive/ingest-refusals.ts";
import {
  type LogReceiver,
  RECEIVE_ERRORS,
  type ReceivedRequest,
  readLogBody,
} from "../../../../receive/receive-records.ts";

const EXAMPLE = {
  streams: [
    {
      stream: { service: "checkout", level: "error" },
      values: [["1772366398734000000", "payment failed: card declined"]],
    },
  ],
};

const Push = Type.Object(
  {
    streams: Type.Array(
      Type.Object({
        stream: Type.Optional(Type.Record(Type.String(), Type.String())),
        values: Type.Array(Type.Array(Type.Unknown(), { minItems: 2, maxItems: 3 }), {
          description: "Time in nanoseconds as a text, line, and perhaps an object of structured metadata.",
        }),
      }),
    ),
  },
  { $id: "LokiPush", examples: [EXAMPLE] },
);

const PROTOBUF_TYPE = "application/x-protobuf";

/** What senders for Grafana Loki need. */
export function lokiRoutes(receiver: Pick<LogReceiver, "receive">) {
  const json = new LokiPush();
  const protobuf = new LokiProtobuf();
  return [
    route({
      method: "POST",
      path: "/loki/api/v1/push",
      tag: "Log receivers",
      summary: "Loki push in JSON or Snappy-packed protobuf; answered once the lines are durable",
      access: { role: "member", scope: "logs:write" },
      credential: authorizationToken("basic"),
      rateLimit: "ingest",
      effect: "ingest",
      query: Type.Object({}, { additionalProperties: true }),
      body: { kind: "raw", contentTypes: ["application/json", PROTOBUF_TYPE], documented: Push },
      responses: { 204: { description: "Every line is stored, or kept in the quarantine." } },
      errors: RECEIVE_ERRORS,
      handler: async (context) => {
        const isPacked = isProtobuf(context.request);
        const { rejected, errors } = await receiver.receive({
          principal: context.principal,
          ...(isPacked ? await readSnappyBody(context) : { body: await readLogBody(context) }),
          decoder: isPacked ? protobuf : json,
          apart: { kind: isPacked ? "loki-protobuf" : "loki-push" },
          requestName: context.requestName,
          sourceKey: null,
          quarantines: true,
        });
        if (rejected === 0) return { status: 204 };
        throw validationFailed(
          errors.map(({ place, reason }) => ({ path: place, code: "custom", message: reason })),
          `${rejected} lines could not be read and are lost, the quarantine is full; the others are stored.`,
        );
      },
    }),
  ];
}

function isProtobuf(request: Request): boolean {
  return (request.headers.get("content-type") ?? "").toLowerCase().startsWith(PROTOBUF_TYPE);
}

/** The body of a push in protobuf, which is a Snappy block whatever its headers say, and its length unpacked. Throws ApiError. */
async function readSnappyBody(
  context: AuthenticatedContext,
): Promise<Pick<ReceivedRequest, "body" | "unpackedBytes">> {
  const body = await readPackedBody(context.request, {
    maxBytes: MAX_BODY_BYTES,
    reserve: context.reserveMemory,
  });
  try {
    const unpackedBytes = snappyLength(body);
    if (unpackedBytes > MAX_BODY_BYTES) throw tooLarge(MAX_BODY_BYTES);
    context.reserveMemory(unpackedBytes);
    return { body, unpackedBytes };
  } catch (error) {
    return throwForClient(error);
  }
}
