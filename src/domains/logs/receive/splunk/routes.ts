import { Type } from "typebox";
import {
  isJsonObject,
  numberText,
  parseJson,
  type RecordDecoder,
  type RecordDecoderSpec,
  SplunkEvents,
  SplunkRawText,
} from "../../../../../ingest/index.ts";
import { validationFailed } from "../../../../errors.ts";
import { route } from "../../../../http/define-route.ts";
import { MAX_JSON_BODY_BYTES, MAX_JSON_DEPTH } from "../../../../http/limits.ts";
import { ANY_MEDIA_TYPE } from "../../../../http/media-type.ts";
import { readBody } from "../../../../http/read-body.ts";
import type { AuthenticatedContext, Reply } from "../../../../http/route.ts";
import { CONTENT_ENCODINGS } from "../../../../http/unpack.ts";
import { authorizationToken } from "../../../../receive/authorization-token.ts";
import { throwForClient } from "../../../../receive/ingest-refusals.ts";
import { type LogReceiver, RECEIVE_ERRORS, readLogBody } from "../../../../receive/receive-records.ts";
import { refusal, success } from "./answers.ts";

const Success = Type.Object(
  {
    text: Type.Literal("Success"),
    code: Type.Literal(0),
    ackId: Type.Optional(
      Type.Integer({ description: "For a request that names its channel.", examples: [197_411_220_183_554] }),
    ),
  },
  { $id: "CollectorSuccess", examples: [{ text: "Success", code: 0 }] },
);
const Acks = Type.Object(
  {
    acks: Type.Record(Type.String(), Type.Boolean(), { examples: [{ "197411220183554": true }] }),
  },
  { $id: "CollectorAcks" },
);
const Health = Type.Object(
  {
    text: Type.String({ examples: ["HEC is healthy"] }),
    code: Type.Integer({ examples: [17] }),
  },
  { $id: "CollectorHealth" },
);
/** What `refusal` says. */
const RefusalMembers = Type.Object(
  {
    text: Type.String({ description: "What a collector says.", examples: ["Server is busy"] }),
    hecCode: Type.Integer({ description: "The number that a collector gives it.", examples: [9] }),
    "invalid-event-number": Type.Optional(
      Type.Integer({ description: "The first event that cannot be read.", examples: [0] }),
    ),
  },
  { $id: "CollectorRefusal", examples: [{ text: "Server is busy", hecCode: 9 }] },
);
/** One of the events of a body, which stand one after the other without a separator. */
const Events = Type.Object(
  { event: Type.Unknown() },
  {
    $id: "CollectorEvent",
    additionalProperties: true,
    description: "One event or several, one after the other.",
    examples: [{ time: 1_772_366_398.734, source: "checkout", event: "payment failed: card declined" }],
  },
);

const Lines = Type.String({ examples: ["payment failed: card declined\n"] });

const Name = Type.Optional(Type.String({ maxLength: 255 }));
/** Senders add parameters of their own, such as the channel. */
const RawQuery = Type.Object(
  { host: Name, source: Name, sourcetype: Name, index: Name },
  { additionalProperties: true },
);
const AnyQuery = Type.Object({}, { additionalProperties: true });

/** Ids that one question may name. */
const ACKS_MAX_COUNT = 10_000;

/** Such a question is parsed in one turn. */
const QUESTION_LIMITS = {
  maxPackedBytes: MAX_JSON_BODY_BYTES,
  maxUnpackedBytes: MAX_JSON_BODY_BYTES,
  encodings: CONTENT_ENCODINGS,
};

const AckQuestion = Type.Object(
  {
    acks: Type.Array(Type.Integer(), { maxItems: ACKS_MAX_COUNT, examples: [[197_411_220_183_554]] }),
  },
  { $id: "CollectorAckQuestion" },
);

/** What every route of the collector has in common; senders set all kinds of content types, also those of forms. */
const COLLECTOR = {
  tag: "Log receivers",
  access: { role: "member", scope: "logs:write" },
  credential: authorizationToken("splunk", "basic"),
  rateLimit: "ingest",
  refusalMembers: refusal,
  refusalSchema: RefusalMembers,
} as const;

/** What senders for Splunk's HTTP Event Collector need. */
export function splunkRoutes(receiver: Pick<LogReceiver, "receive">) {
  const events = new SplunkEvents();
  return [
    ...["", "/event", "/event/1.0"].map((path) =>
      route({
        ...COLLECTOR,
        method: "POST",
        path: `/services/collector${path}`,
        summary: "Splunk HTTP Event Collector events; answered once they are durable",
        effect: "ingest",
        query: AnyQuery,
        body: { kind: "raw", contentTypes: [ANY_MEDIA_TYPE], documented: Events },
        responses: {
          200: { description: "Every event is stored, or kept in the quarantine.", schema: Success },
        },
        errors: RECEIVE_ERRORS,
        handler: (context) => collect(receiver, context, events, { kind: "splunk-hec-event" }),
      }),
    ),
    ...["", "/event", "/event/1.0"].map((path) =>
      route({
        method: "OPTIONS",
        path: `/services/collector${path}`,
        tag: "Log receivers",
        summary:
          "Whether there is a Splunk HTTP Event Collector, as Docker's log driver asks before it starts",
        access: "public",
        rateLimit: "probe",
        isProbe: true,
        effect: "read",
        query: AnyQuery,
        responses: { 200: { description: "There is." } },
        handler: () => ({ status: 200 }),
      }),
    ),
    ...["/raw", "/raw/1.0"].map((path) =>
      route({
        ...COLLECTOR,
        method: "POST",
        path: `/services/collector${path}`,
        summary: "Splunk HTTP Event Collector raw text, an entry a line; answered once they are durable",
        effect: "ingest",
        query: RawQuery,
        body: { kind: "raw", contentTypes: [ANY_MEDIA_TYPE], documented: Lines },
        responses: { 200: { description: "Every line is stored.", schema: Success } },
        errors: RECEIVE_ERRORS,
        handler: (context, { query: { host, source, sourcetype, index } }) => {
          const about = { host, source, sourcetype, index };
          return collect(receiver, context, new SplunkRawText(about), { kind: "splunk-hec-raw", about });
        },
      }),
    ),
    route({
      ...COLLECTOR,
      method: "POST",
      path: "/services/collector/ack",
      summary: "Whether events are indexed: those that were answered with success are",
      effect: "read",
      query: AnyQuery,
      body: {
        kind: "raw",
        contentTypes: [ANY_MEDIA_TYPE],
        documented: AckQuestion,
      },
      responses: { 200: { description: "True for every id.", schema: Acks } },
      handler: acknowledge,
    }),
    ...["/health", "/health/1.0"].map((path) =>
      route({
        method: "GET",
        path: `/services/collector${path}`,
        tag: "Log receivers",
        summary: "Whether the Splunk HTTP Event Collector takes events",
        access: "public",
        rateLimit: "probe",
        isProbe: true,
        query: AnyQuery,
        responses: { 200: { description: "It does.", schema: Health } },
        handler: () => ({ status: 200, body: { text: "HEC is healthy", code: 17 } }),
      }),
    ),
  ];
}

async function collect(
  receiver: Pick<LogReceiver, "receive">,
  context: AuthenticatedContext,
  decoder: RecordDecoder,
  apart: RecordDecoderSpec,
): Promise<Reply> {
  const { rejected, errors } = await receiver.receive({
    principal: context.principal,
    body: await readLogBody(context),
    decoder,
    apart,
    requestName: context.requestName,
    sourceKey: null,
    quarantines: true,
  });
  if (rejected === 0) return success(context.request);
  throw validationFailed(
    errors.map(({ place, reason }) => ({ path: place, code: "custom", message: reason })),
    `${rejected} events could not be read and are lost, the quarantine is full; the others are stored.`,
  );
}

async function acknowledge(context: AuthenticatedContext): Promise<Reply> {
  const question = parseQuestion(await readBody(context.request, QUESTION_LIMITS, context.reserveMemory));
  const acks = isJsonObject(question) ? question.acks : undefined;
  if (!Array.isArray(acks) || acks.length > ACKS_MAX_COUNT) {
    const message = `must be a list of at most ${ACKS_MAX_COUNT} ids`;
    throw validationFailed([{ path: "/acks", code: "invalid_type", message }]);
  }
  const ids = acks.map(numberText).filter((id) => id !== null);
  return { status: 200, body: { acks: Object.fromEntries(ids.map((id) => [id, true])) } };
}

function parseQuestion(body: Uint8Array): unknown {
  try {
    return parseJson(body, MAX_JSON_DEPTH);
  } catch (error) {
    return throwForClient(error);
  }
}
