import { Type } from "typebox";
import { GelfDecoder } from "../../../../../ingest/index.ts";
import { validationFailed } from "../../../../errors.ts";
import { route } from "../../../../http/define-route.ts";
import { ANY_MEDIA_TYPE } from "../../../../http/media-type.ts";
import { addressToken, TokenParameter } from "../../../../receive/authorization-token.ts";
import { type LogReceiver, RECEIVE_ERRORS, readLogBody } from "../../../../receive/receive-records.ts";

const Message = Type.Object(
  { short_message: Type.Optional(Type.String()) },
  {
    $id: "GelfMessage",
    additionalProperties: true,
    examples: [{ version: "1.1", host: "web-1", short_message: "payment failed", level: 3, _order: 17 }],
  },
);

/** What senders of GELF over HTTP need. */
export function gelfRoutes(receiver: Pick<LogReceiver, "receive">) {
  const decoder = new GelfDecoder();
  return [
    route({
      method: "POST",
      path: "/gelf",
      tag: "Log receivers",
      summary: "GELF over HTTP, a message or several; answered once they are durable",
      access: { role: "member", scope: "logs:write" },
      credential: addressToken,
      rateLimit: "ingest",
      effect: "ingest",
      query: Type.Object({ token: TokenParameter }, { additionalProperties: true }),
      body: { kind: "raw", contentTypes: [ANY_MEDIA_TYPE], documented: Message },
      responses: { 202: { description: "Every message is stored, or kept in the quarantine." } },
      errors: RECEIVE_ERRORS,
      handler: async (context) => {
        const { rejected, errors } = await receiver.receive({
          principal: context.principal,
          body: await readLogBody(context),
          decoder,
          apart: { kind: "gelf" },
          requestName: context.requestName,
          sourceKey: null,
          quarantines: true,
        });
        if (rejected === 0) return { status: 202 };
        throw validationFailed(
          errors.map(({ place, reason }) => ({ path: place, code: "custom", message: reason })),
          `${rejected} messages could not be read and are lost, the quarantine is full; the others are stored.`,
        );
      },
    }),
  ];
}
