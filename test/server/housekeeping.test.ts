import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { removeOldEvents } from "../../src/changes/events/event-store.ts";
import { removeOldQuarantine } from "../../src/domains/quarantine/retention.ts";
import { removeExpiredKeys } from "../../src/http/ledger/idempotency-store.ts";
import { createLogger } from "../../src/log.ts";
import { Housekeeping } from "../../src/server/housekeeping.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { removeOldTokenUsage } from "../../src/usage/token-usage-store.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const NOW_MS = Date.parse("2026-03-01T12:00:00.000Z");
const log = createLogger("silent");
const tasks = [removeExpiredKeys, removeOldEvents, removeOldTokenUsage, removeOldQuarantine];
const signal = new AbortController().signal;

let stores: TestStores;
let sql: TestStores["postgres"];

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  await sql`INSERT INTO organizations (name, created_at) VALUES ('tidy', now())`;
  await sql`INSERT INTO users (email, created_at) VALUES ('ana@example.com', now())`;
  await sql`INSERT INTO memberships (organization_id, user_id, role, created_at) VALUES (1, 1, 'owner', now())`;
  await sql`
    INSERT INTO personal_access_tokens (organization_id, user_id, token_hash, name, prefix, scopes, created_at)
    VALUES (1, 1, sha256('token'), 'laptop', 'obs_laptop12', '{*}', now())`;
});
afterAll(() => stores.close());

beforeEach(async () => {
  await sql`DELETE FROM idempotency_keys`;
  await sql`DELETE FROM token_usage`;
});

/** So many keys that are over, and one that lives for another hour. */
async function fillKeys(rows: number): Promise<void> {
  await sql`
    INSERT INTO idempotency_keys (organization_id, credential, key_hash, fingerprint, attempt, leased_until, expires_at)
    SELECT 1, 'user:1', sha256(n::text::bytea), sha256('request'), gen_random_uuid(), now(),
           now() + CASE n WHEN 0 THEN interval '1 hour' ELSE interval '0' END
    FROM generate_series(0, ${rows}::integer) AS n`;
}

async function count(table: string): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`SELECT count(*)::integer AS rows FROM ${sql(table)}`;
  return row?.rows ?? 0;
}

function housekeeping(overrides: { sql?: TestStores["postgres"]; nowMs?: number } = {}): Housekeeping {
  return new Housekeeping({ sql: overrides.sql ?? sql, now: () => overrides.nowMs ?? NOW_MS, tasks, log });
}

test("events that everybody was told of are removed after a month", async () => {
  await sql`
    INSERT INTO events (organization_id, kind, subject, payload, happened_at)
    SELECT 1, 'thing.made', 'thing:1', '{}', now() - n * interval '1 day' FROM unnest(ARRAY[1, 29, 31]) AS n`;
  await housekeeping().cleanOnce(signal);
  expect(await count("events")).toBe(2);
});

test("what is over is removed and nothing else", async () => {
  await fillKeys(3);
  await sql`
    INSERT INTO token_usage (token_id, organization_id, day, mutations)
    SELECT 1, 1, DATE '2026-03-01' - n, 1 FROM generate_series(0, 60) AS n`;
  expect(await housekeeping().cleanOnce(signal)).toBe(false);
  expect(await count("idempotency_keys")).toBe(1);
  const [kept] = await sql<{ days: number; oldest: string }[]>`
    SELECT count(*)::integer AS days, min(day)::text AS oldest FROM token_usage`;
  expect(kept).toEqual({ days: 41, oldest: "2026-01-20" });
});

test("a round has a bound, and the next one goes on", async () => {
  await fillKeys(50_500);
  expect(await housekeeping().cleanOnce(signal)).toBe(true);
  expect(await count("idempotency_keys")).toBe(501);
  expect(await housekeeping().cleanOnce(signal)).toBe(false);
  expect(await count("idempotency_keys")).toBe(1);
});

test("several instances at once get in nobody's way", async () => {
  await fillKeys(20_000);
  const second = createPostgres(stores.postgresUrl);
  const instances = [housekeeping(), housekeeping({ sql: second }), housekeeping()];
  await Promise.all(instances.map((instance) => instance.cleanOnce(signal)));
  await Promise.all(instances.map((instance) => instance.cleanOnce(signal)));
  expect(await count("idempotency_keys")).toBe(1);
  await second.end();
});

test("it begins with the server and ends with it", async () => {
  await fillKeys(5);
  const instance = housekeeping();
  instance.start();
  await eventually("clean", async () => (await count("idempotency_keys")) === 1 || null);
  await instance.stop();
  const aborted = AbortSignal.abort();
  await sql`UPDATE idempotency_keys SET expires_at = now() - interval '1 year'`;
  expect(await instance.cleanOnce(aborted)).toBe(false);
  expect(await count("idempotency_keys")).toBe(1);
});
