import { Type } from "typebox";
import { ElasticsearchBulk } from "../../../../../ingest/index.ts";
import { piecesOf } from "../../../../concurrency/thread-turns.ts";
import { answerWith } from "../../../../http/answer-stream.ts";
import { route } from "../../../../http/define-route.ts";
import { MAX_REMEMBERED_CHARS } from "../../../../http/ledger/remembered-answer.ts";
import { ANSWER_PIECE_BYTES } from "../../../../http/limits.ts";
import { ANY_MEDIA_TYPE } from "../../../../http/media-type.ts";
import type { AuthenticatedContext, Reply } from "../../../../http/route.ts";
import { type LogReceiver, RECEIVE_ERRORS, readLogBody } from "../../../../receive/receive-records.ts";
import { AnsweredBulk } from "./bulk-answer.ts";
import { elasticsearchDocumentRoutes } from "./document-routes.ts";
import { elasticsearchProbeRoutes } from "./probe-routes.ts";
import { SENDER, SENDER_HEADERS } from "./sender.ts";

/** The index of actions that name none. */
const DEFAULT_INDEX = "logs";

const Index = Type.Object({ index: Type.String({ minLength: 1, maxLength: 255 }) });

const BULK_EXAMPLE =
  '{"index":{"_index":"checkout"}}\n{"@timestamp":"2026-03-01T11:59:58.734Z","message":"payment failed"}\n';
const ITEM_EXAMPLE = {
  index: {
    _index: "checkout",
    _id: "0195c3a1-0",
    _version: 1,
    result: "created",
    _shards: { total: 1, successful: 1, failed: 0 },
    status: 201,
  },
};

const BulkAnswer = Type.Object(
  {
    took: Type.Integer({ description: "Milliseconds." }),
    errors: Type.Boolean({ description: "Whether any item was refused." }),
    items: Type.Array(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: "By the name of the action: what became of it.",
          examples: [ITEM_EXAMPLE],
        },
      ),
    ),
  },
  { $id: "BulkAnswer" },
);

/** What senders for Elasticsearch need: the bulk request, single documents, and what they ask before. */
export function elasticsearchRoutes(receiver: Pick<LogReceiver, "receive">) {
  return [
    ...(["POST", "PUT"] as const).flatMap((method) => [
      route({
        ...SENDER,
        ...bulkSpec(method),
        path: "/elasticsearch/_bulk",
        handler: (context) => receiveBulk(receiver, context, DEFAULT_INDEX),
      }),
      route({
        ...SENDER,
        ...bulkSpec(method),
        path: "/elasticsearch/:index/_bulk",
        params: Index,
        handler: (context, { params: { index } }) => receiveBulk(receiver, context, index),
      }),
    ]),
    ...elasticsearchDocumentRoutes(receiver),
    ...elasticsearchProbeRoutes(),
  ];
}

function bulkSpec<M extends "POST" | "PUT">(method: M) {
  return {
    method,
    summary: "Elasticsearch bulk request; answered once its documents are durable",
    rateLimit: "ingest",
    effect: "ingest",
    body: {
      kind: "raw",
      contentTypes: [ANY_MEDIA_TYPE],
      documented: Type.String({
        description: "Actions and documents, one a line.",
        examples: [BULK_EXAMPLE],
      }),
    },
    responses: { 200: { description: "What became of every action.", schema: BulkAnswer } },
    errors: RECEIVE_ERRORS,
  } as const;
}

async function receiveBulk(
  receiver: Pick<LogReceiver, "receive">,
  context: AuthenticatedContext,
  index: string,
): Promise<Reply | Response> {
  const startedMs = performance.now();
  const body = await readLogBody(context);
  const { answerMemory, requestId, requestName } = context;
  const bulk = new AnsweredBulk(new ElasticsearchBulk(index), requestId, (bytes) => answerMemory.take(bytes));
  await receiver.receive({
    principal: context.principal,
    body,
    decoder: bulk,
    apart: { kind: "elasticsearch-bulk", defaultIndex: index },
    decodedApart: ({ items }) => bulk.take(items),
    requestName,
    sourceKey: null,
    // The answer says of every document what became of it.
    quarantines: false,
  });
  const texts = bulk.texts(Math.round(performance.now() - startedMs));
  // What is remembered for a repetition is remembered whole.
  if (requestName !== null && bulk.bytes <= MAX_REMEMBERED_CHARS)
    return { status: 200, headers: SENDER_HEADERS, body: JSON.parse([...texts].join("")) };
  const headers = { ...SENDER_HEADERS, "content-type": "application/json" };
  return answerWith({ pieces: piecesOf(texts, ANSWER_PIECE_BYTES), memory: answerMemory, headers });
}
