import type postgres from "postgres";
import { statusPageDomain } from "../../../src/domains/status-pages/domain.ts";
import { PublishedPages } from "../../../src/domains/status-pages/published-pages.ts";
import { pagesIn } from "../../../src/domains/status-pages/read-page.ts";
import { copiesIn } from "../../../src/domains/status-pages/sealed-copies.ts";
import type { LoginThrottle } from "../../../src/identity/login-throttle.ts";
import { MemoryLoginThrottle } from "../../../src/identity/memory-login-throttle.ts";
import { PasswordHasher } from "../../../src/identity/password-hasher.ts";
import { createLogger } from "../../../src/log.ts";
import type { MailMessage } from "../../../src/notify/mail/message.ts";
import type { MailTransport } from "../../../src/notify/mail/transport.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { withPageHosts } from "../../../src/server/page-hosts.ts";
import { TEST_ORIGIN, testApp } from "../../harness/http-app.ts";
import { TEST_BOX, testLedger } from "../../harness/ledger.ts";
import type { TestStores } from "../../harness/stores.ts";

export const PAGES = "/api/v1/status-pages";
export const NOW_MS = Date.parse("2026-03-08T12:00:30.000Z");
export const DAY_MS = 24 * 60 * 60 * 1000;
/** A page that is read anew is what is shown, however slow the machine is. */
const PATIENT_MS = 60_000;

interface PageServerOptions {
  readonly directory: string;
  readonly sql?: postgres.Sql;
  readonly transport?: MailTransport;
  /** Its own unless told. */
  readonly throttle?: LoginThrottle;
  readonly clock?: { nowMs: number };
}

/** One instance of the server as far as status pages go; `sql` is how it reaches the database. */
export function pageServer(
  { postgres: own }: Pick<TestStores, "postgres">,
  { directory, sql = own, transport, throttle, clock = { nowMs: NOW_MS } }: PageServerOptions,
) {
  const now = (): number => clock.nowMs;
  const log = createLogger("silent");
  const copies = copiesIn(directory, TEST_BOX);
  const statusPages = new PublishedPages({ source: pagesIn(sql), copies, now, log, waitMs: PATIENT_MS });
  const mails: MailMessage[] = [];
  /** What name servers say. */
  const records = new Map<string, readonly string[]>();
  const { routes, senders, housekeeping } = statusPageDomain({
    ...{ sql, statusPages, now, log, publicUrl: TEST_ORIGIN },
    enqueueMail: async (_tx, message) => {
      mails.push(message);
    },
    mail: { transport: transport ?? keeping(mails) },
    passwords: new PasswordHasher({
      concurrency: 1,
      // Fast, and as one-way as a suite needs.
      algorithm: {
        hash: async (password) => `hash of ${password}`,
        verify: async (password, hash) => hash === `hash of ${password}`,
      },
    }),
    throttle: throttle ?? new MemoryLoginThrottle({ now }),
    box: TEST_BOX,
    statusPageHosts: ["*.example.com"],
    resolveTxt: async (name) => records.get(name) ?? [],
    policy: new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false }),
    statusPageKey: new Uint8Array(32).fill(9),
    cookie: { secure: false },
  });
  const app = testApp(routes, { ledger: testLedger(sql, now) });
  const hosted = withPageHosts(app.unchecked, statusPages);
  const { signal } = new AbortController();
  /** A round of everybody who is told. */
  const tellDue = async () => {
    await Promise.all(senders.map((sender) => sender.workOnce(signal)));
  };
  return { app, hosted, records, statusPages, clock, mails, tellDue, housekeeping };
}

function keeping(mails: MailMessage[]): MailTransport {
  return {
    kind: "smtp",
    send: async (message) => {
      mails.push(message);
    },
    close: () => undefined,
  };
}

export type PageServer = ReturnType<typeof pageServer>;

/** A new organisation with monitors, and how its people call. */
export async function organization({ postgres: sql }: Pick<TestStores, "postgres">, { app }: PageServer) {
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('tells', now()) RETURNING id`;
  const id = row?.id ?? 0;
  const send = async (method: string, path: string, json?: unknown, as = "admin/*") => {
    const response = await app.send(method, path, {
      as: `${as}/1/${id}`,
      ...(json !== undefined && { json }),
    });
    const text = await response.text();
    const body: Record<string, unknown> = text === "" ? {} : JSON.parse(text);
    return { status: response.status, body };
  };
  const monitor = async (name: string, confirmed: string | null = "up"): Promise<number> => {
    const [made] = await sql<{ id: string }[]>`
      INSERT INTO monitors (organization_id, name, url, type, interval_sec, timeout_ms, heartbeat_token_hash,
                            sealed_heartbeat_token, created_at, updated_at)
      VALUES (${id}, ${name}, 'https://internal.example.com', 'https', 60, 1000,
              sha256(gen_random_uuid()::text::bytea), '', now(), now()) RETURNING id`;
    const monitorId = Number(made?.id);
    await sql`
      INSERT INTO monitor_state (monitor_id, organization_id, confirmed, last_error)
      VALUES (${monitorId}, ${id}, ${confirmed}, 'connect ECONNREFUSED 10.0.0.7')`;
    return monitorId;
  };
  const period = async (monitorId: number, status: string, fromMs: number, toMs: number | null) => {
    await sql`
      INSERT INTO monitor_periods (organization_id, monitor_id, status, started_at, ended_at)
      VALUES (${id}, ${monitorId}, ${status}, ${new Date(fromMs)}, ${toMs === null ? null : new Date(toMs)})`;
  };
  const incident = async (
    monitorIds: readonly number[],
    updates: readonly { body: string; public: boolean; status?: string }[],
    { title = "db-7 is down", sourceKey = "monitor:1" as string | null } = {},
  ): Promise<number> => {
    const [made] = await sql<{ id: string }[]>`
      INSERT INTO incidents (organization_id, source_key, title, status, severity, opened_at, created_at, updated_at)
      VALUES (${id}, ${sourceKey}, ${title}, 'investigating', 'high', ${new Date(NOW_MS - 3_600_000)}, now(), now())
      RETURNING id`;
    const incidentId = Number(made?.id);
    for (const monitorId of monitorIds)
      await sql`INSERT INTO incident_monitors (incident_id, monitor_id, organization_id) VALUES (${incidentId}, ${monitorId}, ${id})`;
    for (const update of updates)
      await sql`
        INSERT INTO incident_updates (organization_id, incident_id, kind, status, public, body, created_at)
        VALUES (${id}, ${incidentId}, 'update', ${update.status ?? "investigating"}, ${update.public}, ${update.body}, now())`;
    return incidentId;
  };
  return { id, send, monitor, period, incident };
}

/** A slug that no other test has. */
export function freshSlug(): string {
  return `page-${crypto.randomUUID()}`;
}
