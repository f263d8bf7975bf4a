import { createHash } from "node:crypto";
import { Type } from "typebox";
import type { SecretBox } from "../../../access/secret-box.ts";
import { lateCheck } from "../../../late-check.ts";
import { mintWebhookSecret, signWebhook } from "../../../notify/webhook-signature.ts";
import type { GuardedFetch } from "../../../outbound/guarded-fetch.ts";
import { urlOf } from "../page-reading.ts";
import { WEBHOOK_ANSWER_MAX_BYTES, WEBHOOK_TIMEOUT_MS } from "./limits.ts";
import { type News, type NoticeWay, SubscriberRefused } from "./news.ts";
import type { UnsubscribeLinks } from "./unsubscribe-link.ts";

/** An address that is told, as it is stored. */
export interface SealedWebhook {
  /** The address and what requests to it are signed with. */
  readonly sealed: Uint8Array;
  /** Tells addresses apart. */
  readonly key: Uint8Array;
  /** Whose it is, for people: an address may hold a token. */
  readonly host: string;
}

const Webhook = lateCheck(Type.Object({ url: Type.String(), secret: Type.String() }));

/** An address with a secret of its own. */
export function sealWebhook(box: SecretBox, organizationId: number, url: URL): SealedWebhook {
  const text = JSON.stringify({ url: url.href, secret: mintWebhookSecret() });
  return {
    sealed: box.seal(text, purposeOf(organizationId)),
    key: createHash("sha256").update(url.href).digest(),
    host: url.host,
  };
}

export function openWebhook(
  box: SecretBox,
  organizationId: number,
  sealed: Uint8Array,
): { url: string; secret: string } {
  const opened: unknown = JSON.parse(box.open(sealed, purposeOf(organizationId)));
  if (!Webhook.Check(opened)) throw new Error("a subscriber's webhook is not in its form");
  return opened;
}

interface WebhookWayOptions {
  readonly box: SecretBox;
  readonly fetch: GuardedFetch;
  readonly links: UnsubscribeLinks;
  readonly publicUrl: string;
  readonly now: () => number;
}

/** Answers that may be another one the next time, besides those of 500 and above. */
const WORTH_RETRYING = new Set([408, 409, 425, 429]);
const GONE = 410;

/** Tells programs: Standard Webhooks 1.0.0, under the same id at every attempt. */
export function webhookWay({ box, fetch, links, publicUrl, now }: WebhookWayOptions): NoticeWay {
  return {
    channel: "webhook",
    send: async (news) => {
      const { subscriber, organizationId, id } = news;
      if (subscriber.webhook === null) throw new Error("a subscriber has no webhook");
      const { url, secret } = openWebhook(box, organizationId, subscriber.webhook);
      const body = JSON.stringify(messageOf(news, publicUrl, links.linkFor(subscriber.id), now()));
      const timestampSec = Math.floor(now() / 1000);
      const answer = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "user-agent": "obs",
          ...signWebhook([secret], { id, timestampSec, body }),
        },
        body,
        timeoutMs: WEBHOOK_TIMEOUT_MS,
        maxBytes: WEBHOOK_ANSWER_MAX_BYTES,
      });
      const { status } = answer;
      if (status >= 200 && status < 300) return;
      if (status < 500 && !WORTH_RETRYING.has(status))
        throw new SubscriberRefused(`the receiver answered ${status}`, status === GONE);
      throw new Error(`the receiver answered ${status}`);
    },
  };
}

function messageOf({ shown, incident }: News, publicUrl: string, unsubscribe: string, nowMs: number) {
  const { name, state } = shown.page;
  return {
    type: "status_page.incident",
    timestamp: new Date(nowMs).toISOString(),
    data: { page: { name, state, url: urlOf(shown, publicUrl) }, incident, unsubscribe },
  };
}

/** Sealed for one organisation: in the row of another one it does not open. */
function purposeOf(organizationId: number): string {
  return `status-page-webhook:${organizationId}`;
}
