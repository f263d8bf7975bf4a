/**
 * How long notifications wait that come at a steady rate, and how fast they leave when all come at once, both while one of
 * the receivers hangs; and the milliseconds of processor time that the server's process takes for each, receivers included.
 * The reference sends the same requests from the same process without an outbox. And how long it takes from when a failure
 * is confirmed until a webhook and the person on call have heard of it, through one whole server.
 *
 *   bun bench/notifications.ts [notifications] [receivers] [a second]
 */
import { createLogger } from "../src/log.ts";
import type { Notification } from "../src/notify/channels/notification.ts";
import { DeliverySender } from "../src/notify/deliveries/delivery-sender.ts";
import { Teller } from "../src/notify/deliveries/tell.ts";
import { smtpServerOf, smtpTransport } from "../src/notify/mail/smtp-transport.ts";
import { mintWebhookSecret, signWebhook } from "../src/notify/webhook-signature.ts";
import { createGuardedFetch } from "../src/outbound/guarded-fetch.ts";
import { OutboundPolicy } from "../src/outbound/outbound-policy.ts";
import { createMetrics } from "../src/server/metrics.ts";
import { TEST_BOX } from "../test/harness/ledger.ts";
import { openTestStores } from "../test/harness/stores.ts";
import { firstNotices } from "./notifications/first-notices.ts";

const notifications = Number(Bun.argv[2] ?? 5_000);
const receivers = Number(Bun.argv[3] ?? 20);
const perSecond = Number(Bun.argv[4] ?? 1_000);
const HANGING = 500;
const BATCH = 200;
const MONITORS = 10;
const TICK_MS = 20;
const REFERENCE_AT_ONCE = 64;

const stores = await openTestStores();
const sql = stores.postgres;
const [organization] = await sql<{ id: number }[]>`
  INSERT INTO organizations (name, created_at) VALUES ('bench', now()) RETURNING id`;
const organizationId = organization?.id ?? 0;
const secret = mintWebhookSecret();
const fetch = createGuardedFetch(new OutboundPolicy({ allow: ["127.0.0.0/8"], allowPrivate: false }));

/** When each message was written, by its title, and how long each took to arrive. */
const writtenAt = new Map<string, number>();
const waitsMs: number[] = [];
const servers = Array.from({ length: receivers }, () =>
  Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { data }: { data: { title: string } } = JSON.parse(await request.text());
      const written = writtenAt.get(data.title);
      if (written !== undefined) waitsMs.push(performance.now() - written);
      return new Response(null, { status: 204 });
    },
  }),
);
const hanging = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch: () => new Promise<Response>(() => undefined),
});

const endpoints = { chatD: "http://127.0.0.1:1", pagingA: "", pagingB: "", sms: null, voice: null };
const teller = new Teller({ box: TEST_BOX, endpoints, targetKey: new Uint8Array(32) });
const sender = new DeliverySender({
  ...{ sql, box: TEST_BOX, endpoints, metrics: createMetrics(), log: createLogger("silent"), now: Date.now },
  ways: {
    mail: smtpTransport(smtpServerOf("smtp://127.0.0.1:1"), "obs@example.com"),
    fetch,
    fetchOperators: fetch,
  },
  secretsOf: async () => [secret],
});

async function tell(title: string, port: number | undefined): Promise<void> {
  writtenAt.set(title, performance.now());
  await sql.begin((tx) =>
    teller.tell(
      tx,
      organizationId,
      {
        incidentId: null,
        eventId: title,
        notification: notificationOf(title),
        targets: [{ channel: "webhook", url: `http://127.0.0.1:${port}/` }],
        isPage: false,
      },
      Date.now(),
    ),
  );
}

function notificationOf(title: string): Notification {
  return {
    ...{ type: "incident.opened", tone: "problem", severity: "high", title, lines: [] },
    ...{ at: new Date().toISOString(), incidentId: null, incident: null, monitor: null },
    ...{ link: null, acknowledgeLink: null },
  };
}

/** The same requests, as many at once as the sender has under way. */
async function reference(): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let nth = next++; nth < notifications; nth = next++) {
      const body = JSON.stringify({ type: "incident.opened", timestamp: "", data: { title: `r${nth}` } });
      const headers = signWebhook([secret], {
        id: `msg_${nth}`,
        timestampSec: Math.floor(Date.now() / 1000),
        body,
      });
      const url = `http://127.0.0.1:${servers[nth % receivers]?.port}/`;
      await fetch(url, {
        ...{ method: "POST", body, timeoutMs: 10_000, maxBytes: 1024 },
        headers: { "content-type": "application/json", ...headers },
      });
    }
  };
  await Promise.all(Array.from({ length: REFERENCE_AT_ONCE }, worker));
  return notifications / ((performance.now() - startedAt) / 1000);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Writes some notifications in the order of their numbers. */
function tellAll(from: number, count: number): Promise<unknown> {
  return Promise.all(
    Array.from({ length: count }, (_, at) => tell(`n${from + at}`, servers[(from + at) % receivers]?.port)),
  );
}

/** At a steady rate: what is late is made up for. */
async function offerSteadily(from: number): Promise<void> {
  const startedAt = performance.now();
  for (let told = 0; told < notifications; ) {
    const due = Math.min(notifications, Math.ceil(((performance.now() - startedAt) / 1000) * perSecond));
    if (due > told) await tellAll(from + told, due - told);
    told = Math.max(due, told);
    sender.wake();
    await Bun.sleep(TICK_MS);
  }
}

async function offerAtOnce(from: number): Promise<void> {
  for (let told = 0; told < notifications; told += BATCH) {
    await tellAll(from + told, Math.min(BATCH, notifications - told));
    sender.wake();
  }
}

/** What an offer of notifications comes to. */
async function measured(name: string, offer: () => Promise<void>): Promise<string> {
  waitsMs.length = 0;
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await offer();
  while (waitsMs.length < notifications) await Bun.sleep(TICK_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  return (
    `${name}: ${Math.round(notifications / seconds)} a second, ` +
    `waits p50 ${Math.round(percentile(waitsMs, 0.5))} ms, p99 ${Math.round(percentile(waitsMs, 0.99))} ms, ` +
    `${((user + system) / 1000 / notifications).toFixed(2)} ms of processor time each\n`
  );
}

process.stdout.write(`without an outbox: ${Math.round(await reference())} a second\n`);
for (let nth = 0; nth < HANGING; nth += 1) await tell(`h${nth}`, hanging.port);
sender.start();
process.stdout.write(await measured(`${perSecond} a second`, () => offerSteadily(0)));
process.stdout.write(await measured("all at once", () => offerAtOnce(notifications)));
// What hangs holds its receiver open, so nobody waits for it.
for (const server of [...servers, hanging]) void server.stop(true);
await sender.stop(1_000);
const { toldMs, pagedMs } = await firstNotices(MONITORS, {
  CLICKHOUSE_URL: stores.clickhouseUrl,
  DATABASE_URL: stores.postgresUrl,
});
for (const [who, ms] of Object.entries({ "a webhook": toldMs, "the person on call, by mail": pagedMs }))
  process.stdout.write(
    `confirmed until ${who} has it: p50 ${Math.round(percentile(ms, 0.5))} ms, ` +
      `longest of ${MONITORS} ${Math.round(Math.max(...ms))} ms\n`,
  );
await stores.close();
process.exit(0);
