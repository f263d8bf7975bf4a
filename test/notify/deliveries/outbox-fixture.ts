import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import type { Sql } from "postgres";
import { createLogger } from "../../../src/log.ts";
import type { ChannelEndpoints } from "../../../src/notify/channels/channel.ts";
import type { Notification } from "../../../src/notify/channels/notification.ts";
import type { Target } from "../../../src/notify/channels/target.ts";
import { DeliverySender } from "../../../src/notify/deliveries/delivery-sender.ts";
import { Teller, type Telling } from "../../../src/notify/deliveries/tell.ts";
import { smtpServerOf, smtpTransport } from "../../../src/notify/mail/smtp-transport.ts";
import { mintWebhookSecret } from "../../../src/notify/webhook-signature.ts";
import { createGuardedFetch } from "../../../src/outbound/guarded-fetch.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { createMetrics } from "../../../src/server/metrics.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type Answering, Receiver } from "./receiver.ts";

const ENDPOINTS: ChannelEndpoints = {
  chatD: "http://127.0.0.1:1",
  pagingA: "http://127.0.0.1:1",
  pagingB: "http://127.0.0.1:1",
  sms: null,
  voice: null,
};
const SECRET = mintWebhookSecret();
export const TELLER = new Teller({
  box: TEST_BOX,
  endpoints: ENDPOINTS,
  targetKey: new Uint8Array(32).fill(5),
});

interface DeliveryRow {
  readonly state: string;
  readonly attempts: number;
  readonly last_code: number | null;
  readonly last_error: string | null;
  readonly due_in_sec: number;
  readonly in_digest: boolean;
}

/** How one instance differs from the others. */
interface InstanceOptions {
  readonly smtpUrl?: string;
  readonly sql?: Sql;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly secrets?: readonly string[];
  /** Gets the lines of its log. */
  readonly onLog?: (line: string) => void;
}

/** An outbox of notifications in a database of its own, and what sends from it; emptied before each test. */
export class Outbox {
  readonly #senders: DeliverySender[] = [];
  readonly #receivers: Receiver[] = [];
  #stores: TestStores | null = null;
  #organizationId = 0;

  constructor() {
    beforeAll(async () => {
      this.#stores = await openTestStores();
      const [row] = await this.sql<{ id: number }[]>`
        INSERT INTO organizations (name, created_at) VALUES ('o', now()) RETURNING id`;
      this.#organizationId = row?.id ?? 0;
    });
    beforeEach(async () => {
      await this.sql`DELETE FROM deliveries`;
    });
    afterEach(async () => {
      for (const receiver of this.#receivers.splice(0)) receiver[Symbol.dispose]();
      await Promise.all(this.#senders.splice(0).map((sender) => sender.stop(1_000)));
    });
    afterAll(() => this.stores.close());
  }

  get stores(): TestStores {
    if (this.#stores === null) throw new Error("the stores are not open yet");
    return this.#stores;
  }

  get sql(): Sql {
    return this.stores.postgres;
  }

  get organizationId(): number {
    return this.#organizationId;
  }

  async makeIncident(): Promise<number> {
    const [row] = await this.sql<{ id: string }[]>`
      INSERT INTO incidents (organization_id, title, status, severity, opened_at, created_at, updated_at)
      VALUES (${this.#organizationId}, 'down', 'investigating', 'high', now(), now(), now()) RETURNING id`;
    return Number(row?.id);
  }

  receiver(answering?: Answering): Receiver {
    const made = new Receiver(answering);
    this.#receivers.push(made);
    return made;
  }

  instance({
    smtpUrl = "smtp://127.0.0.1:1",
    sql = this.sql,
    now = Date.now,
    secrets = [SECRET],
    onLog = () => undefined,
  }: InstanceOptions = {}): { readonly sender: DeliverySender; readonly sendDue: () => Promise<void> } {
    const policy = new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false });
    const fetch = createGuardedFetch(policy);
    const sender = new DeliverySender({
      sql,
      box: TEST_BOX,
      endpoints: ENDPOINTS,
      ways: { mail: smtpTransport(smtpServerOf(smtpUrl), "obs@example.com"), fetch, fetchOperators: fetch },
      secretsOf: async () => secrets,
      metrics: createMetrics(),
      log: createLogger("error", { write: onLog }),
      now,
    });
    this.#senders.push(sender);
    const sendDue = async (): Promise<void> => {
      while (await sender.sendDue(new AbortController().signal)) await sender.settled();
      await sender.settled();
    };
    return { sender, sendDue };
  }

  tell(title: string, targets: readonly Target[], rest: Partial<Telling> = {}): Promise<number[]> {
    const telling = {
      incidentId: null,
      eventId: `test:${crypto.randomUUID()}`,
      notification: notificationOf(title, rest.incidentId ?? null),
      targets,
      isPage: false,
      ...rest,
    };
    return this.sql.begin((tx) => TELLER.tell(tx, this.#organizationId, telling, Date.now()));
  }

  rows(): Promise<DeliveryRow[]> {
    return this.sql<DeliveryRow[]>`
      SELECT state, attempts, last_code, last_error, in_digest,
             extract(epoch FROM next_attempt_at - now())::float8 AS due_in_sec
      FROM deliveries ORDER BY id`;
  }

  /** Lets what was put off be due. */
  async passTime(): Promise<void> {
    await this
      .sql`UPDATE deliveries SET next_attempt_at = now() - interval '1 second' WHERE state = 'pending'`;
  }
}

export function notificationOf(title: string, incidentId: number | null = null): Notification {
  return {
    type: "incident.opened",
    tone: "problem",
    at: "2026-03-01T12:00:00.000Z",
    severity: "high",
    title,
    lines: [],
    incidentId,
    incident: null,
    monitor: null,
    link: null,
    acknowledgeLink: null,
  };
}

export const hook = ({ url }: Receiver): Target => ({ channel: "webhook", url });
