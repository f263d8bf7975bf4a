import { subscriptionMail } from "../../../notify/mail/templates.ts";
import { type MailTransport, RecipientRefused } from "../../../notify/mail/transport.ts";
import { urlOf } from "../page-reading.ts";
import { statusWord } from "../render.ts";
import { WORDS } from "../words.ts";
import { SEND_TIMEOUT_MS } from "./limits.ts";
import { type NoticeWay, SubscriberRefused } from "./news.ts";
import type { UnsubscribeLinks } from "./unsubscribe-link.ts";

interface MailWayOptions {
  readonly transport: MailTransport;
  readonly links: UnsubscribeLinks;
  readonly publicUrl: string;
}

/** Tells people. */
export function mailWay({ transport, links, publicUrl }: MailWayOptions): NoticeWay {
  return {
    channel: "mail",
    send: async ({ id, subscriber, shown, incident }, stopped) => {
      const { title, status, updates } = incident;
      const unsubscribe = links.linkFor(subscriber.id);
      const message = subscriptionMail({
        to: subscriber.email,
        subject: `${WORDS.status(shown.page.name)}: ${statusWord(status)}: ${title}`,
        paragraphs: [`${statusWord(status)}: ${title}`, ...updates.map(({ body }) => body)],
        button: { label: WORDS.mail.open, link: `${urlOf(shown, publicUrl)}#incident-${incident.id}` },
        closing: `${WORDS.mail.closing} ${WORDS.subscribe.unsubscribe}: ${unsubscribe}`,
        unsubscribe,
      });
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
      try {
        await transport.send(message, id, signal);
      } catch (error) {
        if (!(error instanceof RecipientRefused)) throw error;
        throw new SubscriberRefused("the mail server refuses the recipient", false, { cause: error });
      }
    },
  };
}
