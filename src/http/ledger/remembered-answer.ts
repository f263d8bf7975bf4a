import type { ErrorBody } from "../envelope.ts";
import type { Reply } from "../route.ts";

/** An answer as it is kept for repetitions of its request. */
export interface RememberedAnswer {
  readonly status: number;
  /** JSON, or base64 of bytes in another encoding; null for an empty body. */
  readonly body: string | null;
  readonly isBytes: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Characters of an answer that is kept; no state-changing route of ours says a tenth of it. */
export const MAX_REMEMBERED_CHARS = 4 * 1024 * 1024;

export function rememberReply(reply: Reply): RememberedAnswer {
  const { status, body, encoded, headers } = reply;
  if (encoded !== undefined)
    return {
      status,
      body: Buffer.from(encoded.bytes).toString("base64"),
      isBytes: true,
      headers: { ...headers, "content-type": encoded.contentType },
    };
  const text = body === undefined ? null : JSON.stringify(body);
  return { status, body: text, isBytes: false, headers: { ...headers } };
}

export function rememberError(
  status: number,
  body: ErrorBody,
  headers: Readonly<Record<string, string>>,
): RememberedAnswer {
  return { status, body: JSON.stringify(body), isBytes: false, headers };
}

export function encodeAnswer(answer: RememberedAnswer): string {
  return JSON.stringify([answer.status, answer.body, answer.headers, answer.isBytes]);
}

/** Throws an Error for a text that `encodeAnswer` did not make. */
export function decodeAnswer(text: string): RememberedAnswer {
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed)) throw new Error("a remembered answer is damaged");
  // Answers that were kept by earlier versions are JSON.
  const [status, body, headers, isBytes = false]: unknown[] = parsed;
  if (typeof isBytes !== "boolean") throw new Error("a remembered answer is damaged");
  if (typeof status !== "number" || (typeof body !== "string" && body !== null) || !isHeaders(headers))
    throw new Error("a remembered answer is damaged");
  return { status, body, headers, isBytes };
}

function isHeaders(value: unknown): value is Record<string, string> {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((header) => typeof header === "string")
  );
}
