import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { errorHeaders, toApiError } from "../../http/envelope.ts";
import type { Reply, RequestContext } from "../../http/route.ts";
import type { ShownPage } from "./published-pages.ts";
import { type Document, sentenceDocument } from "./render.ts";
import { WORDS } from "./words.ts";

/** What is sent again and again until the page changes, packed and not. */
interface Made {
  readonly contentType: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly policy: string | null;
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
  const kept = own.get(name) ?? madeOf(make());
  own.set(name, kept);
  const isPacked = (request.headers.get("accept-encoding") ?? "").includes("gzip");
  const etag = isPacked ? `"${kept.etag}-gz"` : `"${kept.etag}"`;
  const headers: Record<string, string> = {
    etag,
    // What is behind a password is nobody else's, so no cache between keeps it.
    "cache-control": shown.passwordHash === null ? `public, max-age=${MAX_AGE_SEC}` : "private, no-store",
    vary: shown.passwordHash === null ? "accept-encoding" : "accept-encoding, cookie",
    "access-control-allow-origin": "*",
    ...(kept.policy !== null && { "content-security-policy": kept.policy }),
  };
  if (shown.passwordHash !== null) delete headers["access-control-allow-origin"];
  const known = request.headers.get("if-none-match");
  if (known?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag))
    return { status: 304, headers };
  const { contentType, plain, packed } = kept;
  if (!isPacked) return { status: 200, headers, encoded: { contentType, bytes: plain } };
  headers["content-encoding"] = "gzip";
  return { status: 200, headers, encoded: { contentType, bytes: packed } };
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

function madeOf({ contentType, text, policy }: Content): Made {
  const plain = new TextEncoder().encode(text);
  return {
    contentType,
    plain,
    packed: new Uint8Array(gzipSync(plain, { level: 9 })),
    etag: createHash("sha256").update(plain).digest("base64url").slice(0, 22),
    policy: policy ?? null,
  };
}
