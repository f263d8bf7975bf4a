import type { GuardedFetch } from "../../outbound/guarded-fetch.ts";
import { OutboundError } from "../../outbound/outbound-error.ts";
import type { DeliveryContext } from "../channels/channel.ts";
import { requestFor } from "../channels/channels.ts";
import type { Notification } from "../channels/notification.ts";
import type { Target } from "../channels/target.ts";
import type { MailMessage } from "../mail/message.ts";
import { notificationMail } from "../mail/templates.ts";
import { type MailTransport, RecipientRefused } from "../mail/transport.ts";
import { ANSWER_MAX_BYTES, ATTEMPT_TIMEOUT_MS, RETRY_AFTER_MAX_MS } from "./limits.ts";

/** What came of one attempt. `error` names no address and holds no text of the receiver. */
export type Outcome =
  | { readonly kind: "delivered"; readonly code: number | null }
  | { readonly kind: "refused"; readonly code: number | null; readonly error: string }
  | {
      readonly kind: "failed";
      readonly code: number | null;
      readonly error: string;
      /** How long the receiver asks to be left alone. */
      readonly retryAfterMs: number | null;
    };

/** What is not even attempted. */
export const UNOPENED: Outcome = {
  kind: "refused",
  code: null,
  error: "The notification cannot be decrypted any more.",
};
export const DEADLY: Outcome = {
  kind: "refused",
  code: null,
  error: "The servers that sent the notification ended while they did.",
};

export interface Ways {
  readonly mail: MailTransport;
  /** To where people of an organisation say. */
  readonly fetch: GuardedFetch;
  /** To where the operator says. */
  readonly fetchOperators: GuardedFetch;
}

/** Answers that may be another one the next time, besides those of 500 and above. */
const WORTH_RETRYING = new Set([408, 409, 425, 429]);

/** Tells one receiver once. Throws only when `stopped` says so. */
export async function attempt(
  target: Target,
  notification: Notification,
  context: DeliveryContext,
  ways: Ways,
  stopped: AbortSignal,
): Promise<Outcome> {
  try {
    if (target.channel === "email") {
      const message = notificationMail(target.address, notification, context.thread);
      await sendMail(ways.mail, message, context.id, stopped);
      return { kind: "delivered", code: null };
    }
    const { url, method, headers, body, isOperators } = requestFor(target, notification, context);
    const fetch = isOperators ? ways.fetchOperators : ways.fetch;
    const answer = await fetch(url, {
      ...{ method, headers, body, timeoutMs: ATTEMPT_TIMEOUT_MS },
      // Whoever says that it has arrived has it, whatever else it says.
      ...{ maxBytes: ANSWER_MAX_BYTES, takesCutOff: true },
    });
    return judged(answer.status, answer.headers.get("retry-after"), context.nowMs);
  } catch (error) {
    if (stopped.aborted) throw error;
    return failureOf(error);
  }
}

function judged(code: number, retryAfter: string | null, nowMs: number): Outcome {
  if (code >= 200 && code < 300) return { kind: "delivered", code };
  const error = `The receiver answered ${code}.`;
  if (code < 500 && !WORTH_RETRYING.has(code)) return { kind: "refused", code, error };
  return { kind: "failed", code, error, retryAfterMs: retryAfterMs(retryAfter, nowMs) };
}

function failureOf(error: unknown): Outcome {
  if (error instanceof RecipientRefused)
    return { kind: "refused", code: null, error: "The mail server refuses the recipient." };
  if (error instanceof OutboundError) {
    const kind = error.failure === "blocked" ? "refused" : "failed";
    return { kind, code: null, error: error.message, retryAfterMs: null };
  }
  return {
    kind: "failed",
    code: null,
    error: "The notification could not be handed over.",
    retryAfterMs: null,
  };
}

/** Seconds, or a date (RFC 9110, 10.2.3); null for anything else. */
function retryAfterMs(text: string | null, nowMs: number): number | null {
  const seconds = /^\s*(\d{1,9})\s*$/.exec(text ?? "")?.[1];
  const date = /^[A-Z][a-z]{2}/.test(text ?? "") ? Date.parse(text ?? "") : Number.NaN;
  const waitMs = seconds === undefined ? date - nowMs : Number(seconds) * 1000;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MAX_MS);
}

/** Gives up, and closes the connection with it, at whichever step a mail server hangs. */
async function sendMail(
  mail: MailTransport,
  message: MailMessage,
  id: string,
  stopped: AbortSignal,
): Promise<void> {
  const late = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
  try {
    await mail.send(message, id, AbortSignal.any([stopped, late]));
  } catch (error) {
    throw late.aborted ? new OutboundError("timeout") : error;
  }
}
