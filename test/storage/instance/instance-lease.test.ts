import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { LogIdGenerator } from "../../../ingest/log-id.ts";
import { createLogger } from "../../../src/log.ts";
import { directoryIdentity } from "../../../src/storage/instance/directory-identity.ts";
import { InstanceLease } from "../../../src/storage/instance/instance-lease.ts";
import { takeNumber } from "../../../src/storage/instance/instance-store.ts";
import { LEASE_MARGIN_MS, LEASE_MS, REST_MS } from "../../../src/storage/instance/limits.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

let stores: TestStores;
/** Of every server of a test; it stands still unless it is set. */
let nowMs: number;
let monotonicMs: number;
let opened: InstanceLease[];

beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  for (const lease of opened ?? []) await lease.close();
  opened = [];
  await stores.postgres`TRUNCATE server_instances`;
  nowMs = Date.now();
  monotonicMs = 1_000;
});

async function start(place: string | null, sql = stores.postgres): Promise<InstanceLease> {
  const lease = await InstanceLease.open({
    sql,
    place,
    log: createLogger("silent"),
    now: () => nowMs,
    monotonicNow: () => monotonicMs,
  });
  opened.push(lease);
  return lease;
}

/** All numbers but one held by nobody, in the order in which they rest. */
async function fillAllBut(number: number | null): Promise<void> {
  await stores.postgres`
    INSERT INTO server_instances (number, lease_until, ids_through)
    SELECT n, now(), ${new Date(nowMs)}::timestamptz - (2000 - n) * interval '1 minute'
    FROM generate_series(0, 1023) AS n WHERE n IS DISTINCT FROM ${number}`;
}

test("a number that a living server holds is given to nobody, however many start", async () => {
  const living = await start("a");
  const held = living.number();
  await fillAllBut(held);
  const others = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      takeNumber(stores.postgres, { id: crypto.randomUUID(), place: `b${i}` }, nowMs),
    ),
  );
  expect(new Set([held, ...others]).size).toBe(31);
  await living.renew();
  expect(living.number()).toBe(held);
});

test("a start is refused when every number is held, and takes the one whose lease is over", async () => {
  await fillAllBut(null);
  await stores.postgres`UPDATE server_instances SET holder = ${crypto.randomUUID()}, lease_until = now() + interval '1 hour'`;
  await expect(start("a")).rejects.toThrow("All numbers of servers are taken");
  await stores.postgres`UPDATE server_instances SET lease_until = now() WHERE number = 77`;
  expect((await start("a")).number()).toBe(77);
});

test("a directory gets the number back that it gave back; another one does not", async () => {
  const first = await start("a");
  const held = first.number();
  await first.close();
  nowMs += 60_000;
  expect((await start("copy of a")).number()).not.toBe(held);
  expect((await start("a")).number()).toBe(held);
});

test("a server that was killed leaves a number that rests, and starts again at once with another", async () => {
  await fillAllBut(null);
  const killed = await start("a");
  const held = killed.number();
  const again = await start("a");
  expect(again.number()).not.toBe(held);
  const [row] =
    await stores.postgres`SELECT holder, ids_through FROM server_instances WHERE number = ${held}`;
  expect(row).toEqual({ holder: null, ids_through: new Date(nowMs + REST_MS) });
});

test("no number is given out whose ids may be later than the clock of whoever asks", async () => {
  const first = await start("a");
  const held = first.number();
  await first.close();
  nowMs -= 3_600_000;
  expect((await start("a")).number()).not.toBe(held);
});

test("without Postgres a number is held until the lease is nearly over, by either clock", async () => {
  const sql = createPostgres(stores.postgresUrl);
  const lease = await start("a", sql);
  const held = lease.number();
  await sql.end();
  const lifeMs = LEASE_MS - LEASE_MARGIN_MS;
  nowMs += lifeMs - 1;
  monotonicMs += lifeMs - 1;
  expect(lease.number()).toBe(held);
  monotonicMs += 1;
  expect(lease.number()).toBeNull();
  monotonicMs -= 1;
  nowMs += 1;
  expect(lease.number()).toBeNull();
});

test("a server whose lease ran out takes another number, and no id is made twice", async () => {
  const away = await start("a");
  const ids = new LogIdGenerator(
    () => away.number(),
    () => nowMs,
  );
  const made = [ids.take(10)];
  const lost = away.number() ?? -1;
  await fillAllBut(lost);
  const isFree = stores.postgres`number = ${lost}`;
  await stores.postgres`
    UPDATE server_instances SET lease_until = CASE WHEN ${isFree} THEN now() ELSE now() + interval '1 day' END`;
  nowMs += REST_MS + 1;
  const other = await start("b");
  expect(other.number()).toBe(lost);

  await stores.postgres`UPDATE server_instances SET lease_until = now() WHERE number IN (500, 501)`;
  await away.renew();
  expect([500, 501]).toContain(away.number() ?? -1);
  const othersIds = new LogIdGenerator(
    () => other.number(),
    () => nowMs,
  );
  made.push(ids.take(10), othersIds.take(10), ids.take(10));
  expect(new Set(made).size).toBe(made.length);
});

test("a directory is told from its copy, and stays itself under another name", () => {
  using directory = temporaryDirectory();
  const [original, copy, renamed] = ["original", "copy", "renamed"].map((name) => join(directory.path, name));
  if (original === undefined || copy === undefined || renamed === undefined) throw new Error("three names");
  mkdirSync(original);
  const identity = directoryIdentity(original);
  Bun.spawnSync(["cp", "-a", original, copy]);
  expect(directoryIdentity(copy)).not.toBe(identity);
  renameSync(original, renamed);
  expect(directoryIdentity(renamed)).toBe(identity);
});
