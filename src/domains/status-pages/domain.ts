import type { SecretBox } from "../../access/secret-box.ts";
import type { LoginThrottle } from "../../identity/login-throttle.ts";
import type { PasswordHasher } from "../../identity/password-hasher.ts";
import type { TxtResolver } from "../../identity/providers/sso/txt-resolver.ts";
import type { Logger } from "../../log.ts";
import type { EnqueueMail } from "../../notify/mail/outbox.ts";
import type { MailTransport } from "../../notify/mail/transport.ts";
import { createGuardedFetch } from "../../outbound/guarded-fetch.ts";
import type { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import { HostProof } from "./host-proof.ts";
import { hostRoutes } from "./host-routes.ts";
import { pageRoutes, publicPageRoutes } from "./public-routes.ts";
import type { PublishedPages } from "./published-pages.ts";
import { type StatusPageDependencies, statusPageRoutes } from "./routes.ts";
import { subscriberRoutes } from "./subscribers/admin-routes.ts";
import { ClientQuota } from "./subscribers/client-quota.ts";
import { removeClientTurns } from "./subscribers/client-turns.ts";
import { mailWay } from "./subscribers/mails.ts";
import { NoticeSender } from "./subscribers/notice-sender.ts";
import { subscriptionRoutes } from "./subscribers/routes.ts";
import { removePending } from "./subscribers/store.ts";
import { UnsubscribeLinks } from "./subscribers/unsubscribe-link.ts";
import { webhookWay } from "./subscribers/webhooks.ts";
import { Unlocking } from "./unlocking.ts";

interface DomainDependencies extends Omit<StatusPageDependencies, "onChanged" | "passwords" | "hosts"> {
  readonly passwords: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly statusPages: PublishedPages;
  readonly box: SecretBox;
  /** Hosts that whoever runs the server vouches for. */
  readonly statusPageHosts: readonly string[];
  readonly resolveTxt: TxtResolver;
  /** Signs what ends a subscription and what proves a host. */
  readonly statusPageKey: Uint8Array;
  readonly cookie: { readonly secure: boolean };
  readonly enqueueMail: EnqueueMail;
  readonly mail: { readonly transport: MailTransport };
  /** Where requests may go that people have the server send. */
  readonly policy: OutboundPolicy;
  readonly log: Logger;
  readonly now: () => number;
}

/** What an organisation tells everyone. */
export function statusPageDomain(deps: DomainDependencies) {
  const { sql, statusPages: pages, statusPageKey: key, cookie, passwords, throttle, publicUrl } = deps;
  const { enqueueMail, mail, log, now, box, policy, statusPageHosts, resolveTxt } = deps;
  const unlocking = new Unlocking({ box, passwords, throttle, isSecure: cookie.secure, now });
  const reading = { pages, unlocking, publicUrl };
  const links = new UnsubscribeLinks({ key, publicUrl });
  const fetch = createGuardedFetch(policy);
  const ways = [
    mailWay({ transport: mail.transport, links, publicUrl }),
    webhookWay({ box, fetch, links, publicUrl, now }),
  ];
  const hosts = new HostProof({ key, vouched: statusPageHosts, resolveTxt });
  const senders = ways.map((way) => new NoticeSender({ sql, way, pages, enqueueMail, log, now }));
  return {
    routes: [
      ...statusPageRoutes({ ...deps, hosts, onChanged: pages.forget }),
      ...hostRoutes({ sql, hosts, onChanged: pages.forget }),
      ...publicPageRoutes(reading),
      ...pageRoutes(reading),
      ...subscriptionRoutes({
        ...reading,
        sql,
        box,
        policy,
        enqueueMail,
        links,
        now,
        quota: new ClientQuota(now),
      }),
      ...subscriberRoutes({ sql }),
    ],
    housekeeping: [removePending, removeClientTurns],
    start: async () => {
      await pages.start();
      for (const sender of senders) sender.start();
    },
    stop: async () => {
      await Promise.all([pages.stop(), ...senders.map((sender) => sender.stop())]);
    },
    senders,
  };
}
