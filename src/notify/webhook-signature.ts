import { createHmac, randomBytes } from "node:crypto";

/** What marks a secret for receivers and for scanners of leaked secrets. */
const PREFIX = "whsec_";
/** Within the 24 to 64 bytes that Standard Webhooks asks for; as many as the HMAC puts out. */
const SECRET_BYTES = 32;
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** One delivery of a webhook. */
interface WebhookMessage {
  /** Names the event, the same at every attempt to deliver it, so that receivers tell repetitions; without full stops. */
  readonly id: string;
  /** Of the attempt, in seconds since 1970: receivers refuse what is older than some minutes. */
  readonly timestampSec: number;
  /** Exactly what is sent. */
  readonly body: string;
}

/** The headers of a delivery. */
interface WebhookHeaders {
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

/** A secret to sign webhooks with: `whsec_` and 256 bits of randomness in base64. */
export function mintWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;
}

/**
 * Signs a delivery as Standard Webhooks 1.0.0 says: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`, one
 * signature for each secret, so that receivers go on while they change theirs. Throws an Error for a secret or a
 * message that the scheme has no signature for.
 */
export function signWebhook(secrets: readonly string[], message: WebhookMessage): WebhookHeaders {
  const { id, timestampSec, body } = message;
  if (id === "" || id.includes(".") || !Number.isSafeInteger(timestampSec) || secrets.length === 0)
    throw new Error("a webhook cannot be signed so that its parts stay apart");
  const content = `${id}.${timestampSec}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac("sha256", keyOf(secret)).update(content, "utf8").digest("base64")}`,
  );
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampSec),
    "webhook-signature": signatures.join(" "),
  };
}

function keyOf(secret: string): Buffer {
  if (!SECRET.test(secret) || secret === PREFIX) throw new Error("a webhook secret is malformed");
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}
