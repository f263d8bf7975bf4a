import { Type } from "typebox";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { ANY_MEDIA_TYPE } from "../../http/media-type.ts";
import type { AuthenticatedContext, Reply } from "../../http/route.ts";
import { addressToken, TokenParameter } from "../../receive/authorization-token.ts";
import { maskedTexts, type RawMasks } from "../../receive/raw-masks.ts";
import {
  type LogReceiver,
  RECEIVE_ERRORS,
  ReceivedAnswer,
  readLogBody,
  receivedAnswer,
} from "../../receive/receive-records.ts";
import { noSuchSource } from "./service.ts";
import type { SourceActivity } from "./source-activity.ts";
import type { SourceDirectory } from "./source-directory.ts";
import { SOURCE_KEY_PATTERN } from "./types.ts";

interface SourceReceiveDependencies {
  readonly receiver: LogReceiver;
  readonly sources: SourceDirectory;
  readonly activity: SourceActivity;
  readonly rules: RawMasks;
}

const SourceKey = Type.String({ pattern: SOURCE_KEY_PATTERN });
const Records = Type.Unknown({
  description: "Records in the format of the source.",
  examples: [{ time: "2026-03-01T11:59:58Z", severity: "ERROR", msg: "payment failed" }],
});
const NDJSON =
  /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonl|x-jsonlines|jsonlines|json-seq|x-json-stream)\s*(?:;|$)/i;

/** Takes records in through a configured source. */
export function sourceReceiveRoutes(deps: SourceReceiveDependencies) {
  const common = {
    method: "POST",
    tag: "Logs",
    access: { role: "member", scope: "logs:write" },
    credential: addressToken,
    rateLimit: "ingest",
    effect: "ingest",
    query: Type.Object({ token: TokenParameter }),
    body: { kind: "raw", contentTypes: [ANY_MEDIA_TYPE], documented: Records },
    responses: { 202: { description: "What became of the records, durably", schema: ReceivedAnswer } },
    errors: [...RECEIVE_ERRORS, "SOURCE_DISABLED"],
  } as const;
  return [
    route({
      ...common,
      path: "/api/v1/ingest/:sourceKey",
      summary: "Store the records of a configured source; what cannot be mapped goes to the quarantine",
      params: Type.Object({ sourceKey: SourceKey }),
      handler: (context, { params }) => receiveRecords(deps, context, params.sourceKey),
    }),
    route({
      ...common,
      path: "/api/v1/ingest/sources/:key/records",
      summary: "The same for a source that was made before its key became the path of something else",
      params: Type.Object({ key: SourceKey }),
      handler: (context, { params }) => receiveRecords(deps, context, params.key),
    }),
  ];
}

async function receiveRecords(
  { receiver, sources, activity, rules }: SourceReceiveDependencies,
  context: AuthenticatedContext,
  sourceKey: string,
): Promise<Reply> {
  const { principal, request } = context;
  const source = await sources.get(principal.organizationId, sourceKey);
  if (source === null) throw noSuchSource();
  if (source.status === "disabled")
    throw new ApiError("SOURCE_DISABLED", `The ingest source ${sourceKey} is disabled.`);
  const isNdjson = NDJSON.test(request.headers.get("content-type") ?? "");
  const body = await readLogBody(context);
  const decoder = source.decoder(isNdjson);
  let learned: readonly string[] | null = null;
  const received = await receiver.receive({
    principal,
    body,
    decoder,
    apart: source.decoderSpec(isNdjson),
    decodedApart: (decoded) => {
      learned = decoded.learned;
    },
    requestName: context.requestName,
    sourceKey,
    quarantines: true,
  });
  const texts = await maskedTexts(rules, principal.organizationId, learned ?? decoder.learned.texts);
  activity.record(source, received, texts);
  return receivedAnswer(received);
}
