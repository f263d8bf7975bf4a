import { Type } from "typebox";
import { type DocumentPlace, ElasticsearchDocument } from "../../../../../ingest/index.ts";
import { route } from "../../../../http/define-route.ts";
import { ANY_MEDIA_TYPE } from "../../../../http/media-type.ts";
import type { AuthenticatedContext, Reply } from "../../../../http/route.ts";
import { type LogReceiver, RECEIVE_ERRORS, readLogBody } from "../../../../receive/receive-records.ts";
import { SENDER, SENDER_HEADERS } from "./sender.ts";

const Name = Type.String({ minLength: 1, maxLength: 255 });
const Index = Type.Object({ index: Name });
/** Elasticsearch's own bound on ids is 512 bytes. */
const Document = Type.Object({ index: Name, id: Type.String({ minLength: 1, maxLength: 512 }) });

const DocumentAnswer = Type.Object(
  {
    _index: Type.String(),
    _id: Type.String({ description: "The sender's, or else one made for the answer." }),
    _version: Type.Integer(),
    result: Type.Literal("created"),
    _shards: Type.Object({ total: Type.Integer(), successful: Type.Integer(), failed: Type.Integer() }),
    _seq_no: Type.Integer(),
    _primary_term: Type.Integer(),
  },
  {
    $id: "DocumentAnswer",
    examples: [
      {
        _index: "checkout",
        _id: "0195c3a1-0",
        _version: 1,
        result: "created",
        _shards: { total: 1, successful: 1, failed: 0 },
        _seq_no: 0,
        _primary_term: 1,
      },
    ],
  },
);

const SPEC = {
  ...SENDER,
  rateLimit: "ingest",
  effect: "ingest",
  body: {
    kind: "raw",
    contentTypes: [ANY_MEDIA_TYPE],
    documented: Type.Object(
      {},
      {
        $id: "ElasticsearchDocument",
        additionalProperties: true,
        examples: [{ "@timestamp": "2026-03-01T11:59:58.734Z", message: "payment failed" }],
      },
    ),
  },
  responses: { 201: { description: "The document is durable.", schema: DocumentAnswer } },
  errors: RECEIVE_ERRORS,
} as const;

/** What senders of single documents need. */
export function elasticsearchDocumentRoutes(receiver: Pick<LogReceiver, "receive">) {
  return [
    route({
      ...SPEC,
      method: "POST",
      path: "/elasticsearch/:index/_doc",
      params: Index,
      summary: "A document for an Elasticsearch index; answered once it is durable",
      handler: (context, { params: { index } }) =>
        receiveDocument(receiver, context, { index, id: null, isCreated: false }),
    }),
    ...(["POST", "PUT"] as const).flatMap((method) => [
      route({
        ...SPEC,
        method,
        path: "/elasticsearch/:index/_doc/:id",
        summary: "A document with an id; the id is an attribute, and nothing is replaced",
        params: Document,
        handler: (context, { params }) => receiveDocument(receiver, context, { ...params, isCreated: false }),
      }),
      route({
        ...SPEC,
        method,
        path: "/elasticsearch/:index/_create/:id",
        summary:
          "A document with an id, of which there is one; a repetition is answered and not stored again",
        params: Document,
        handler: (context, { params }) => receiveDocument(receiver, context, { ...params, isCreated: true }),
      }),
    ]),
  ];
}

async function receiveDocument(
  receiver: Pick<LogReceiver, "receive">,
  context: AuthenticatedContext,
  place: DocumentPlace,
): Promise<Reply> {
  await receiver.receive({
    principal: context.principal,
    body: await readLogBody(context),
    decoder: new ElasticsearchDocument(place),
    apart: { kind: "elasticsearch-document", place },
    requestName: context.requestName,
    sourceKey: null,
    // A document that cannot be read is refused.
    quarantines: false,
  });
  return {
    status: 201,
    headers: SENDER_HEADERS,
    body: {
      _index: place.index,
      _id: place.id ?? `${context.requestId}-0`,
      _version: 1,
      result: "created",
      _shards: { total: 1, successful: 1, failed: 0 },
      _seq_no: 0,
      _primary_term: 1,
    },
  };
}
