import { Type } from "typebox";
import { JournalDecoder, JournalEntries } from "../../../../../ingest/index.ts";
import { ApiError } from "../../../../errors.ts";
import { route } from "../../../../http/define-route.ts";
import { ANY_MEDIA_TYPE } from "../../../../http/media-type.ts";
import { contentEncoding } from "../../../../http/read-body.ts";
import type { AuthenticatedContext, CredentialReader, Reply } from "../../../../http/route.ts";
import { CONTENT_ENCODINGS } from "../../../../http/unpack.ts";
import { authorizationToken } from "../../../../receive/authorization-token.ts";
import { type LogReceiver, RECEIVE_ERRORS, readLogBody } from "../../../../receive/receive-records.ts";
import { BATCH_MAX_WAIT_MS, BATCH_MIN_BYTES, ENTRY_MAX_BYTES, IDLE_SEC } from "./limits.ts";

const TokenParams = Type.Object({ token: Type.String({ minLength: 1, maxLength: 128 }) });
const EXAMPLE =
  "__REALTIME_TIMESTAMP=1772366398734000\n_HOSTNAME=web-1\nPRIORITY=3\nMESSAGE=payment failed\n\n";

/** The uploader appends the last segment to its address, in which the token stands. */
const tokenInPath: CredentialReader = (request) => {
  const segments = (request.url.split("?", 1)[0] ?? "").split("/").filter((segment) => segment !== "");
  return segments.at(-2) ?? null;
};

const UPLOAD = {
  method: "POST",
  tag: "Log receivers",
  access: { role: "member", scope: "logs:write" },
  rateLimit: "ingest",
  effect: "ingest",
  idleTimeoutSec: IDLE_SEC,
  body: {
    kind: "raw",
    contentTypes: [ANY_MEDIA_TYPE],
    documented: Type.String({ description: "The journal's export format.", examples: [EXAMPLE] }),
  },
  responses: { 202: { description: "Every entry is stored, or kept in the quarantine." } },
  errors: [...RECEIVE_ERRORS, "PAYLOAD_TOO_LARGE"],
} as const;

/** What systemd-journal-upload needs. Its body may never end: entries are stored while it comes. */
export function journalRoutes(receiver: Pick<LogReceiver, "receive">) {
  return [
    route({
      ...UPLOAD,
      path: "/upload",
      summary: "Entries of systemd's journal, stored while they come",
      credential: authorizationToken("basic"),
      handler: (context) => receiveJournal(receiver, context),
    }),
    route({
      ...UPLOAD,
      path: "/api/v1/logs/ingest/journal/:token/upload",
      summary: "Entries of systemd's journal, for uploaders that can set no header",
      params: TokenParams,
      credential: tokenInPath,
      handler: (context) => receiveJournal(receiver, context),
    }),
  ];
}

async function receiveJournal(
  receiver: Pick<LogReceiver, "receive">,
  context: AuthenticatedContext,
): Promise<Reply> {
  const decoder = new JournalDecoder();
  const store = async (body: Uint8Array): Promise<void> => {
    if (body.length === 0) return;
    await receiver.receive({
      principal: context.principal,
      body,
      decoder,
      apart: { kind: "journal-export" },
      // An entry that is sent again is known by its cursor.
      requestName: null,
      sourceKey: null,
      quarantines: true,
    });
  };
  if (contentEncoding(context.request, CONTENT_ENCODINGS) !== undefined)
    await store(await readLogBody(context));
  else await storeStream(context, store);
  return { status: 202 };
}

async function storeStream(
  { request, reserveMemory }: AuthenticatedContext,
  store: (body: Uint8Array) => Promise<void>,
): Promise<void> {
  if (request.body === null) return;
  // What comes twice the size of an entry is held while it is stored.
  reserveMemory(2 * ENTRY_MAX_BYTES);
  const entries = new JournalEntries();
  const reader = request.body.getReader();
  try {
    let read = reader.read();
    for (;;) {
      const result = entries.wholeBytes > 0 ? await within(read, BATCH_MAX_WAIT_MS) : await read;
      if (result?.done === true) break;
      if (result !== null) {
        entries.push(result.value);
        if (entries.heldBytes - entries.wholeBytes > ENTRY_MAX_BYTES)
          throw new ApiError("PAYLOAD_TOO_LARGE", `An entry has more than ${ENTRY_MAX_BYTES} bytes.`);
        read = reader.read();
      }
      if (result === null || entries.wholeBytes >= BATCH_MIN_BYTES) await store(entries.take());
    }
    await store(entries.takeRest());
  } catch (error) {
    reader.cancel().catch(() => undefined);
    throw error;
  }
}

/** What a promise resolves with, or null when it takes longer. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
