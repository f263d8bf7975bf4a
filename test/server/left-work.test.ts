/**
 * What another instance left is done by one that nobody woke: its loops are told by one question for all of them, whose conditions
 * are to hold whenever there is something to do.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ISql } from "postgres";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

interface LeftWork {
  readonly of: string;
  /** Writes it down as another instance would; answers the key of the row. */
  readonly leave: (organizationId: number) => Promise<{ readonly id: number | string } | undefined>;
  /** Whether something came of it. */
  readonly isDone: (key: number | string) => Promise<boolean>;
}

const directory = temporaryDirectory();
const NO_BYTES = Buffer.alloc(32);
let stores: TestStores;
let server: ServerProcess;
let token: string;
let organizationId: number;
beforeAll(async () => {
  stores = await openTestStores();
  server = await startServer({
    dataDirectory: directory.path,
    env: {
      DATABASE_URL: stores.postgresUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      OUTBOUND_ALLOW: "127.0.0.1",
    },
  });
  token = await makeToken(server.url);
  const [own] = await stores.postgres<{ id: number }[]>`SELECT id FROM organizations`;
  organizationId = own?.id ?? 0;
});
afterAll(async () => {
  await server.stop();
  await stores.close();
  directory[Symbol.dispose]();
});

async function call(method: string, path: string, body: unknown, more = {}): Promise<{ id: number }> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...more },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  const { id } = Object(await response.json());
  return { id: Number(id) };
}

type Values = Record<string, string | number | boolean | Date | Uint8Array | null>;

/** A row with a key of its own, and times a moment ago. */
async function insert(table: string, values: Values, times: readonly string[] = []) {
  const sql = stores.postgres;
  const past = Object.fromEntries(times.map((column) => [column, new Date(Date.now() - 60_000)]));
  const [row] = await sql<
    { id: string }[]
  >`INSERT INTO ${sql(table)} ${sql({ ...values, ...past })} RETURNING id`;
  return row;
}

async function isSo(condition: ReturnType<ISql>): Promise<boolean> {
  const [row] = await stores.postgres<{ is_so: boolean }[]>`SELECT ${condition} AS is_so`;
  return row?.is_so === true;
}

const isGone = (table: string) => (id: number | string) => {
  const sql = stores.postgres;
  return isSo(sql`NOT EXISTS (SELECT 1 FROM ${sql(table)} WHERE id = ${id})`);
};

const has = (table: string, column: string, value: string | boolean) => (id: number | string) => {
  const sql = stores.postgres;
  return isSo(
    sql`EXISTS (SELECT 1 FROM ${sql(table)} WHERE id = ${id} AND ${sql(column)}::text = ${String(value)})`,
  );
};

const isSet = (table: string, column: string) => (id: number | string) => {
  const sql = stores.postgres;
  return isSo(sql`EXISTS (SELECT 1 FROM ${sql(table)} WHERE id = ${id} AND ${sql(column)} IS NOT NULL)`);
};

const wasTried = (table: string) => (id: number | string) => {
  const sql = stores.postgres;
  return isSo(sql`NOT EXISTS (SELECT 1 FROM ${sql(table)} WHERE id = ${id} AND attempts = 0)`);
};

function incident(own: number, values: Values = {}, times: readonly string[] = []) {
  const { source_key = `left:${crypto.randomUUID()}`, ...others } = values;
  return insert(
    "incidents",
    { organization_id: own, title: "Left", status: "investigating", severity: "high", source_key, ...others },
    ["opened_at", "created_at", "updated_at", ...times],
  );
}

async function notice(own: number, channel: "mail" | "webhook") {
  const slug = `left-${channel}`;
  const page = await insert("status_pages", { organization_id: own, name: slug, slug }, [
    "created_at",
    "updated_at",
  ]);
  const subscriber = await insert(
    "status_page_subscribers",
    { organization_id: own, status_page_id: page?.id ?? 0, email: "a@example.com" },
    ["confirmation_sent_at", "created_at"],
  );
  const about = await incident(own);
  return insert(
    "status_page_notices",
    {
      ...{ organization_id: own, subscriber_id: subscriber?.id ?? 0, incident_id: about?.id ?? 0 },
      ...{ is_due: true, channel },
    },
    ["next_attempt_at", "created_at"],
  );
}

const OUTCOME = {
  ...{
    status: "up",
    error: null,
    durationMs: 1,
    statusCode: 200,
    certificateNotAfter: null,
    failedStep: null,
  },
  phases: { dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0 },
};

const LEFT: readonly LeftWork[] = [
  {
    of: "an event",
    leave: async (own) => {
      const sql = stores.postgres;
      const event = await insert("events", {
        ...{ organization_id: own, kind: "nothing.known", subject: "left", payload: "{}" },
      });
      const [row] = await sql<{ id: string }[]>`
        INSERT INTO event_deliveries (event_id, organization_id, subscriber, subject, due_at)
        VALUES (${event?.id ?? 0}, ${own}, 'notify-of-incidents', 'left', now()) RETURNING id`;
      return row;
    },
    isDone: wasTried("event_deliveries"),
  },
  {
    of: "a mail",
    leave: () =>
      insert("mail_outbox", { sealed: NO_BYTES, expires_at: new Date(Date.now() + 3_600_000) }, [
        "created_at",
        "next_attempt_at",
      ]),
    isDone: wasTried("mail_outbox"),
  },
  {
    of: "a notification",
    leave: (own) =>
      insert(
        "deliveries",
        {
          organization_id: own,
          event_id: "left",
          channel: "webhook",
          target_hash: NO_BYTES,
          lane: "left",
          sealed: NO_BYTES,
        },
        ["created_at", "next_attempt_at"],
      ),
    isDone: has("deliveries", "state", "failed"),
  },
  {
    of: "a request for a link",
    leave: () =>
      insert("link_requests", { purpose: "reset-password", email: "nobody@example.com", ip: "127.0.0.1" }, [
        "requested_at",
      ]),
    isDone: isGone("link_requests"),
  },
  {
    of: "a step of an escalation",
    leave: async (own) => {
      const sql = stores.postgres;
      const about = await incident(own);
      await sql`
        INSERT INTO escalations (incident_id, run, organization_id, policy, next_at, created_at)
        VALUES (${about?.id ?? 0}, 0, ${own}, ${sql.json({ steps: [], repeat: 0 })}, now(), now())`;
      return about;
    },
    isDone: (id) => {
      const sql = stores.postgres;
      return isSo(
        sql`NOT EXISTS (SELECT 1 FROM escalations WHERE incident_id = ${id} AND state = 'running' AND next_at <= now())`,
      );
    },
  },
  {
    of: "an incident that has settled",
    leave: (own) => incident(own, {}, ["settle_at"]),
    isDone: has("incidents", "status", "resolved"),
  },
  {
    of: "the end of a silence",
    leave: (own) => incident(own, { silence_id: 1_000_000 }),
    isDone: async (id) => !(await isSet("incidents", "silence_id")(id)),
  },
  {
    of: "incidents that were held back",
    leave: (own) => {
      const held_back_at = new Date(Date.now() - 86_400_000);
      return incident(own, { source_key: 'rule:log:1:["left"]', held_back_at });
    },
    isDone: isSet("incidents", "digested_at"),
  },
  {
    of: "the end of maintenance",
    leave: (own) => {
      const starts_at = new Date(Date.now() - 3_600_000);
      return insert("maintenance_windows", { organization_id: own, title: "left", starts_at }, [
        "ends_at",
        "created_at",
        "updated_at",
      ]);
    },
    isDone: isSet("maintenance_windows", "settled_at"),
  },
  {
    of: "results of monitors",
    leave: () => insert("check_batches", { rows: NO_BYTES, count: 1 }, ["created_at", "next_attempt_at"]),
    isDone: isSet("check_batches", "claim_id"),
  },
  {
    of: "what a probe found too late",
    leave: async (own) => {
      const sql = stores.postgres;
      const monitor = {
        name: "left",
        url: "http://127.0.0.1:9",
        type: "http",
        intervalSec: 60,
        timeoutMs: 1000,
      };
      const { id } = await call("POST", "/monitors", monitor);
      await call("PATCH", `/monitors/${id}`, { paused: true });
      const finding = { startedAtMs: 1, lateMs: 0, outcome: OUTCOME };
      await sql`
        INSERT INTO probe_results (monitor_id, region, slot, organization_id, result, received_at)
        VALUES (${id}, 'left', 0, ${own}, ${sql.json(finding)}, now())`;
      return { id };
    },
    isDone: (id) => {
      const sql = stores.postgres;
      return isSo(sql`EXISTS (SELECT 1 FROM probe_results WHERE monitor_id = ${id} AND is_taken)`);
    },
  },
  {
    of: "a mail to a subscriber",
    leave: (own) => notice(own, "mail"),
    isDone: has("status_page_notices", "is_due", "false"),
  },
  {
    of: "a call to a subscriber",
    leave: (own) => notice(own, "webhook"),
    isDone: has("status_page_notices", "is_due", "false"),
  },
  {
    of: "indicators to be looked for in what was found before",
    leave: (own) => insert("ioc_batches", { organization_id: own, from_revision: 1 }),
    isDone: has("ioc_batches", "hunted", true),
  },
  {
    of: "a found indicator",
    leave: async (own) => {
      const sql = stores.postgres;
      const { id } = await call("POST", "/iocs", { type: "domain", value: "left.example.com" });
      await sql`
        INSERT INTO ioc_hits (ioc_id, organization_id, entity_type, entity_key, found, n, first_at, last_at, sample_id, is_due)
        VALUES (${id}, ${own}, 'host', 'left', 'left.example.com', 1, now(), now(), '1', true)`;
      return { id };
    },
    isDone: (id) => {
      const sql = stores.postgres;
      return isSo(sql`EXISTS (SELECT 1 FROM ioc_hits WHERE ioc_id = ${id} AND NOT is_due)`);
    },
  },
  {
    of: "a question to a log about a request",
    leave: async (own) => {
      const sql = stores.postgres;
      await call("POST", "/logs/ingest", { message: "left" }, { "idempotency-key": "left" });
      const [row] = await sql<{ id: string }[]>`
        INSERT INTO idempotency_keys (organization_id, credential, key_hash, fingerprint, attempt, leased_until, expires_at, log, stored_as, asked_at)
        SELECT organization_id, credential, ${NO_BYTES}, fingerprint, gen_random_uuid(), now() - interval '1 second', expires_at, log,
               gen_random_uuid(), now()
        FROM idempotency_keys WHERE organization_id = ${own} AND log IS NOT NULL LIMIT 1
        RETURNING stored_as AS id`;
      return row;
    },
    isDone: (id) => {
      const sql = stores.postgres;
      return isSo(
        sql`NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE stored_as = ${id}::uuid AND asked_at IS NOT NULL)`,
      );
    },
  },
];

test.each(LEFT)(
  "$of that another instance left is seen to by one that nobody woke",
  async ({ of, leave, isDone }) => {
    const left = await leave(organizationId);
    expect(left).toBeDefined();
    await eventually(of, () => isDone(left?.id ?? 0));
  },
);
