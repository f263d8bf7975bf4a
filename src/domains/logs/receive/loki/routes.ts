import { Type } from "typebox";
import { LokiPush } from "../../../../../ingest/index.ts";
import { validationFailed } from "../../../../errors.ts";
import { route } from "../../../../http/define-route.ts";
import { authorizationToken } from "../../../../receive/authorization-token.ts";
import { type LogReceiver, RECEIVE_ERRORS, readLogBody } from "../../../../receive/receive-records.ts";

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

/** What senders for Grafana Loki need. */
export function lokiRoutes(receiver: Pick<LogReceiver, "receive">) {
  const decoder = new LokiPush();
  return [
    route({
      method: "POST",
      path: "/loki/api/v1/push",
      tag: "Log receivers",
      summary: "Loki push in JSON; answered once the lines are durable",
      access: { role: "member", scope: "logs:write" },
      credential: authorizationToken("basic"),
      rateLimit: "ingest",
      effect: "ingest",
      query: Type.Object({}, { additionalProperties: true }),
      body: { kind: "raw", contentTypes: ["application/json"], documented: Push },
      responses: { 204: { description: "Every line is stored, or kept in the quarantine." } },
      errors: RECEIVE_ERRORS,
      handler: async (context) => {
        const { rejected, errors } = await receiver.receive({
          principal: context.principal,
          body: await readLogBody(context),
          decoder,
          apart: { kind: "loki-push" },
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
