import { Type } from "typebox";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { ANY_MEDIA_TYPE } from "../../http/media-type.ts";
import type { CredentialReader } from "../../http/route.ts";
import { authorizationToken } from "../../receive/authorization-token.ts";
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

const KeyParams = Type.Object({ sourceKey: Type.String({ pattern: SOURCE_KEY_PATTERN }) });
const Records = Type.Unknown({
  description: "Records in the format of the source.",
  examples: [{ time: "2026-03-01T11:59:58Z", severity: "ERROR", msg: "payment failed" }],
});
const NDJSON =
  /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonl|x-jsonlines|jsonlines|json-seq|x-json-stream)\s*(?:;|$)/i;

const basicPassword = authorizationToken("basic");

/**
 * The token of senders that cannot set a bearer token: the password of Basic authentication, else `?token=` for those
 * that know nothing but an address. Addresses end in the logs of proxies, so such a token should have `logs:write` only.
 */
const sourceCredential: CredentialReader = (request) => {
  const password = basicPassword(request);
  if (password !== null) return password;
  const at = request.url.indexOf("?");
  return at < 0 ? null : new URLSearchParams(request.url.slice(at + 1)).get("token");
};

/** Takes records in through a configured source. */
export function sourceReceiveRoutes({ receiver, sources, activity, rules }: SourceReceiveDependencies) {
  return [
    route({
      method: "POST",
      path: "/api/v1/ingest/:sourceKey",
      tag: "Logs",
      summary: "Store the records of a configured source; what cannot be mapped goes to the quarantine",
      access: { role: "member", scope: "logs:write" },
      credential: sourceCredential,
      rateLimit: "ingest",
      effect: "ingest",
      params: KeyParams,
      query: Type.Object({
        token: Type.Optional(
          Type.String({
            maxLength: 128,
            description: "The token, for senders that cannot send it otherwise.",
          }),
        ),
      }),
      body: { kind: "raw", contentTypes: [ANY_MEDIA_TYPE], documented: Records },
      responses: { 202: { description: "What became of the records, durably", schema: ReceivedAnswer } },
      errors: [...RECEIVE_ERRORS, "SOURCE_DISABLED"],
      handler: async (context, { params: { sourceKey } }) => {
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
      },
    }),
  ];
}
