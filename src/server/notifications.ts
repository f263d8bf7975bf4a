import type { Sql } from "postgres";
import type { SecretBox } from "../access/secret-box.ts";
import type { Config } from "../config/config.ts";
import type { DependencyCheck } from "../health/readiness.ts";
import type { Logger } from "../log.ts";
import type { ChannelEndpoints } from "../notify/channels/channel.ts";
import { DeliverySender } from "../notify/deliveries/delivery-sender.ts";
import { removeOldDeliveries } from "../notify/deliveries/delivery-store.ts";
import { Teller } from "../notify/deliveries/tell.ts";
import type { MailTransport } from "../notify/mail/transport.ts";
import { signingSecrets } from "../notify/webhook-secrets.ts";
import { createGuardedFetch } from "../outbound/guarded-fetch.ts";
import type { OutboundPolicy } from "../outbound/outbound-policy.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { inOrganization } from "../storage/organization-transaction.ts";
import { loadSigningKey } from "../storage/server-identity.ts";
import type { RemoveExpired } from "./housekeeping.ts";
import type { Metrics } from "./metrics.ts";

/** How long notifications on their way may take when the server stops; cut off, they are told again by the next start. */
const STOP_MS = 1_000;

interface ServerNotificationOptions {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly endpoints: ChannelEndpoints;
  readonly policy: OutboundPolicy;
  readonly mail: MailTransport;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** The sending of notifications. */
interface ServerNotifications {
  /** There is something to send. */
  readonly wake: () => void;
  readonly checks: readonly DependencyCheck[];
  readonly housekeeping: readonly RemoveExpired[];
  start(): void;
  stop(): Promise<void>;
}

/** Where the services are that notifications go through. */
export function channelEndpoints(config: Config): ChannelEndpoints {
  return {
    chatD: config.chatDUrl,
    pagingA: config.pagingAUrl,
    pagingB: config.pagingBUrl,
    sms: config.smsGatewayUrl,
    voice: config.voiceGatewayUrl,
  };
}

/** What notifications are written with. */
export async function openTeller(sql: Sql, box: SecretBox, endpoints: ChannelEndpoints): Promise<Teller> {
  return new Teller({ box, endpoints, targetKey: await loadSigningKey(sql, "delivery-targets") });
}

export function openServerNotifications(options: ServerNotificationOptions): ServerNotifications {
  const { sql, box, endpoints, policy, mail, metrics, log } = options;
  const now = Date.now;
  const sender = new DeliverySender({
    ...{ sql, box, endpoints, metrics, log, now },
    ways: {
      mail,
      fetch: createGuardedFetch(policy),
      fetchOperators: createGuardedFetch(allowingAll(policy, endpoints)),
    },
    secretsOf: (organizationId) =>
      askPostgres(() =>
        inOrganization(sql, organizationId, (tx) => signingSecrets(tx, box, organizationId, now())),
      ),
  });
  metrics.onCollect(() => {
    const { waiting, oldestAgeMs } = sender.backlog();
    metrics.deliveries.waiting.set(waiting);
    metrics.deliveries.oldestAgeSec.set(oldestAgeMs / 1000);
  });
  return {
    wake: () => sender.wake(),
    checks: [{ name: "notifications", check: async () => sender.status() }],
    housekeeping: [removeOldDeliveries],
    start: () => sender.start(),
    stop: () => sender.stop(STOP_MS),
  };
}

/** What the operator has named may be anywhere. */
function allowingAll(policy: OutboundPolicy, endpoints: ChannelEndpoints): OutboundPolicy {
  return Object.values(endpoints)
    .flatMap((url: string | null) => (url === null ? [] : [new URL(url).hostname]))
    .reduce((allowing, host) => allowing.allowing(host), policy);
}
