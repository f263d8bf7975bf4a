import type { Sql } from "postgres";
import { Type } from "typebox";
import type { Ingest } from "../../../../../ingest/index.ts";
import type { SecretBox } from "../../../../access/secret-box.ts";
import type { ApiError } from "../../../../errors.ts";
import { route } from "../../../../http/define-route.ts";
import { ANY_MEDIA_TYPE } from "../../../../http/media-type.ts";
import { lastPathSegment } from "../../../../http/path-credential.ts";
import type { CredentialReader, Reply } from "../../../../http/route.ts";
import {
  type LogReceiver,
  RECEIVE_ERRORS,
  ReceivedAnswer,
  receivedAnswer,
} from "../../../../receive/receive-records.ts";
import { deliveryAnswer, deliveryRefusal } from "./delivery-answer.ts";
import { DeploymentDrainSettings } from "./drain-settings.ts";
import { drainSettingsRoutes } from "./drain-settings-routes.ts";
import { DrainReceiver, type ReceivedDrain } from "./receive-drain.ts";
import { VERIFICATION_HEADER } from "./signature.ts";

const VERIFICATION_CODE = /^[\x21-\x7e]{1,128}$/;
const PERSONAL_ACCESS_TOKEN = /^obs_[A-Za-z0-9_-]{43}$/;

const TokenParams = Type.Object({ token: Type.String({ description: "A token with logs:write" }) });
const DELIVERY_ID = "ed4acda5-034f-9f42-bba1-f29aea6d7d8f";
const RECORD = "payment failed: card declined";
const MESSAGE = `<174>1 2026-03-01T11:59:58Z host checkout web.1 - ${RECORD}`;
const sent = (example: unknown) => ({
  kind: "raw" as const,
  contentTypes: [ANY_MEDIA_TYPE],
  documented: Type.Unknown({ description: "What the platform sends", examples: [example] }),
});

const delivered = {
  requestId: Type.String({ description: "The delivery's own", examples: [DELIVERY_ID] }),
  timestamp: Type.Integer({ description: "Milliseconds since 1970", examples: [1_772_366_398_734] }),
};
const Delivered = Type.Object(delivered, { $id: "Delivered" });
/** Every path takes what any platform sends. */
const EitherAnswer = Type.Union([Delivered, ReceivedAnswer]);
/** What `deliveryRefusal` says. */
const RefusalMembers = Type.Object(
  {
    requestId: delivered.requestId,
    timestamp: Type.Optional(delivered.timestamp),
    errorMessage: Type.Optional(Type.String({ description: "For delivery streams." })),
  },
  { $id: "DeliveryRefusal", examples: [{ requestId: DELIVERY_ID }] },
);

interface PlatformDependencies {
  readonly ingest: Pick<Ingest, "openDelivery">;
  readonly receiver: Pick<LogReceiver, "receive">;
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly now: () => number;
}

/** A delivery stream has a header for a key; where that holds a token it counts, else the path does. */
const deliveryCredential: CredentialReader = (request) => {
  const key = request.headers.get("x-amz-firehose-access-key");
  return key !== null && PERSONAL_ACCESS_TOKEN.test(key) ? key : lastPathSegment(request);
};

/** What platforms send to addresses that hold a token. Each path takes whatever any of them sends. */
export function platformRoutes({ ingest, receiver, sql, box, now }: PlatformDependencies) {
  const settings = new DeploymentDrainSettings({ sql, box, now });
  const drains = new DrainReceiver({ ingest, receiver, settings, now });
  const answerOf = (drain: ReceivedDrain): Reply =>
    "deliveryId" in drain
      ? { status: 200, body: deliveryAnswer(drain.deliveryId, now()) }
      : receivedAnswer(drain.received);
  const receiving = {
    method: "POST",
    tag: "Logs",
    access: { role: "member", scope: "logs:write" },
    rateLimit: "ingest",
    effect: "ingest",
    params: TokenParams,
    errors: [...RECEIVE_ERRORS, "SIGNATURE_INVALID"],
    refusalMembers: (request: Request, error: ApiError) => deliveryRefusal(request, error, now()),
    refusalSchema: RefusalMembers,
  } as const;
  const verificationOf = async (
    request: Request,
    organizationId: number,
  ): Promise<Record<string, string> | null> => {
    const { verificationCode } = await settings.checksOf(organizationId);
    const asked = request.headers.get(VERIFICATION_HEADER);
    const code = verificationCode ?? (asked !== null && VERIFICATION_CODE.test(asked) ? asked : null);
    return code === null ? null : { [VERIFICATION_HEADER]: code };
  };
  return [
    route({
      ...receiving,
      path: "/api/v1/logs/ingest/platform-a/:token",
      summary: "Receive the log drain of a deployment platform: a JSON array or NDJSON",
      body: sent([{ timestamp: 1_772_366_398_734, message: RECORD }]),
      credential: lastPathSegment,
      responses: {
        200: {
          description:
            "The same with a verification code, which the platform asked for, or as delivery streams have it",
          schema: EitherAnswer,
        },
        202: { description: "Stored durably, or kept in the quarantine", schema: ReceivedAnswer },
      },
      handler: async (context) => {
        const { request, principal } = context;
        const verification = await verificationOf(request, principal.organizationId);
        const answer = answerOf(await drains.receive(context, "platform-a"));
        return verification === null
          ? answer
          : { ...answer, status: 200, headers: { ...answer.headers, ...verification } };
      },
    }),
    route({
      method: "GET",
      path: "/api/v1/logs/ingest/platform-a/:token",
      tag: "Logs",
      summary: "Show a deployment platform that the address is its user's",
      access: receiving.access,
      rateLimit: "ingest",
      params: TokenParams,
      credential: lastPathSegment,
      responses: { 200: { description: "With the verification code in the header `x-vercel-verify`" } },
      handler: async ({ request, principal }) => ({
        status: 200,
        headers: (await verificationOf(request, principal.organizationId)) ?? {},
      }),
    }),
    route({
      ...receiving,
      path: "/api/v1/logs/ingest/platform-b/:token",
      summary: "Receive the drain of an application platform: RFC 5424 messages in octet-counted frames",
      body: sent(`${Buffer.byteLength(MESSAGE)} ${MESSAGE}`),
      credential: lastPathSegment,
      responses: {
        200: { description: "The same, as delivery streams have it", schema: Delivered },
        202: { description: "Stored durably, or kept in the quarantine", schema: ReceivedAnswer },
      },
      handler: async (context) => answerOf(await drains.receive(context, "platform-b")),
    }),
    route({
      ...receiving,
      path: "/api/v1/logs/ingest/stream-a/:token",
      summary: "Receive a delivery stream: an envelope of base64 records, or NDJSON without an envelope",
      body: sent({
        requestId: DELIVERY_ID,
        timestamp: 1_772_366_398_734,
        records: [{ data: Buffer.from(RECORD).toString("base64") }],
      }),
      credential: deliveryCredential,
      responses: {
        200: {
          description: "Stored durably, or kept in the quarantine",
          schema: EitherAnswer,
        },
      },
      // Delivery services take nothing but 200 for a success.
      handler: async (context) => ({
        ...answerOf(await drains.receive(context, "stream-a")),
        status: 200,
      }),
    }),
    ...drainSettingsRoutes(settings),
  ];
}
