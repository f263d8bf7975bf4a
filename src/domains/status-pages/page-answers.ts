import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { EncodedBody } from "../../http/encoded-body.ts";
import { errorHeaders, toApiError } from "../../http/envelope.ts";
import { PreparedAnswer } from "../../http/prepared-answer.ts";
import type { Reply, RequestContext } from "../../http/route.ts";
import type { ShownPage } from "./published-pages.ts";
import { type Document, sentenceDocument } from "./render.ts";
import { WORDS } from "./words.ts";

/** What is sent again and again until the page changes. */
interface Made {
  readonly packed: Form;
  readonly plain: Form;
}

interface Form {
  readonly etag: string;
  readonly whole: Reply;
  /** For whoever has it already. */
  readonly unchanged: Reply;
}

interface Content {
  readonly contentType: string;
  readonly text: string;
  readonly policy?: string;
}

const made = new WeakMap<ShownPage, Map<string, Made>>();
/** How long whoever shows a page may go on showing it. */
const MAX_AGE_SEC = 10;

/** Answers with something that is made of a page once; `name` tells what from other such things. */
export function answerMadeOf(shown: ShownPage, name: string, request: Request, make: () => Content): Reply {
  const own = made.get(shown) ?? new Map<string, Made>();
  made.set(shown, own);
  const kept = own.get(name) ?? madeOf(make(), shown.passwordHash !== null);
  own.set(name, kept);
  const isPacked = (request.headers.get("accept-encoding") ?? "").includes("gzip");
  const { etag, whole, unchanged } = isPacked ? kept.packed : kept.plain;
  const known = request.headers.get("if-none-match");
  const isKnown = known?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag) ?? false;
  return isKnown ? unchanged : whole;
}

/** A document that is made for one reader, or is the same for all pages. */
export function answerOnce(
  { text, policy }: Document,
  status: number,
  headers: Record<string, string> = {},
): Reply {
  return {
    status,
    headers: { ...headers, "content-security-policy": policy, "cache-control": "no-store" },
    encoded: { contentType: "text/html; charset=utf-8", bytes: new TextEncoder().encode(text) },
  };
}

/** An answer for people, who read a page and not an envelope, also when there is nothing to be had or too much was asked. */
export async function answerPeople(
  context: Pick<RequestContext, "log">,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await answer();
  } catch (thrown) {
    const error = toApiError(thrown);
    if (error.code !== "UNAVAILABLE" && error.code !== "RATE_LIMITED") throw thrown;
    context.log.warn({ err: thrown }, "a page for people could not be answered");
    return answerOnce(sentenceDocument(WORDS.refused[error.code]), error.status, errorHeaders(error));
  }
}

function madeOf(content: Content, isLocked: boolean): Made {
  const plain = new TextEncoder().encode(content.text);
  const packed = new Uint8Array(gzipSync(plain, { level: 9 }));
  const hash = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
  const headers: Record<string, string> = {
    // What is behind a password is nobody else's, so no cache between keeps it.
    ...(isLocked
      ? { "cache-control": "private, no-store", vary: "accept-encoding, cookie" }
      : {
          "cache-control": `public, max-age=${MAX_AGE_SEC}`,
          vary: "accept-encoding",
          "access-control-allow-origin": "*",
        }),
    ...(content.policy !== undefined && { "content-security-policy": content.policy }),
  };
  const form = (etag: string, bytes: Uint8Array<ArrayBuffer>, encoding: object): Form => ({
    etag,
    whole: preparedReply(200, { ...headers, etag, ...encoding }, { contentType: content.contentType, bytes }),
    unchanged: preparedReply(304, { ...headers, etag }, null),
  });
  return {
    plain: form(`"${hash}"`, plain, {}),
    packed: form(`"${hash}-gz"`, packed, { "content-encoding": "gzip" }),
  };
}

function preparedReply(status: number, headers: Record<string, string>, body: EncodedBody | null): Reply {
  return { status, prepared: new PreparedAnswer(status, headers, body) };
}
