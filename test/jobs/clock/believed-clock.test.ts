import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { BelievedClock } from "../../../src/jobs/clock/believed-clock.ts";
import { openBootClock } from "../../../src/jobs/clock/boot-clock.ts";
import {
  DAY_MS,
  hotIds,
  makeOrganization,
  NOW_MS,
  testArchiver,
  unitsOf,
} from "../../archive/archive-setup.ts";
import { idAt, insertRows, type StoredRow } from "../../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const HOUR_MS = 3_600_000;
const temporary = temporaryDirectory();
let stores: TestStores;
/** The clock that can be set, and the one that cannot. */
let nowMs: number;
let bootMs: number;

beforeAll(async () => {
  stores = await openTestStores();
});
beforeEach(async () => {
  await stores.postgres`DELETE FROM believed_clock`;
  nowMs = NOW_MS;
  bootMs = 5_000_000;
});
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

function start(boot = "first", confirmedMs: number | null = null): BelievedClock {
  return new BelievedClock({
    sql: stores.postgres,
    now: () => nowMs,
    bootTime: () => ({ boot, ms: bootMs }),
    confirmedMs,
  });
}

function pass(ms: number): void {
  nowMs += ms;
  bootMs += ms;
}

test("the time goes on as it passes, over restarts of the server too", async () => {
  const clock = start();
  expect(await clock.read()).toBe(NOW_MS);
  pass(HOUR_MS);
  expect(await clock.read()).toBe(NOW_MS + HOUR_MS);
  pass(3 * DAY_MS);
  expect(await start().read()).toBe(NOW_MS + HOUR_MS + 3 * DAY_MS);
});

test("a clock that is set forward is believed no faster than time passes, by no server and after no restart", async () => {
  const clock = start();
  const other = start("second");
  await clock.read();
  await other.read();
  nowMs += 40 * DAY_MS;
  for (const reader of [clock, other, start(), start("third")]) expect(await reader.read()).toBe(NOW_MS);
  pass(HOUR_MS);
  // Each has seen the hour pass, and it is one hour.
  expect(await clock.read()).toBe(NOW_MS + HOUR_MS);
  expect(await other.read()).toBe(NOW_MS + HOUR_MS);
  nowMs -= 40 * DAY_MS;
  expect(await clock.read()).toBe(NOW_MS + HOUR_MS);
});

test("how long another machine has been up says nothing of what has passed", async () => {
  await start().read();
  nowMs += 40 * DAY_MS;
  bootMs += 40 * DAY_MS;
  expect(await start("second").read()).toBe(NOW_MS);
});

test("a clock that is set back makes nothing older, and loses nothing that is known", async () => {
  const clock = start();
  await clock.read();
  nowMs -= 1_000 * DAY_MS;
  expect(await clock.read()).toBe(nowMs);
  nowMs += 1_000 * DAY_MS;
  expect(await start().read()).toBe(NOW_MS);
});

test("what passed while the machine was off is believed when an operator confirms it, and no more", async () => {
  await start().read();
  nowMs += 40 * DAY_MS;
  bootMs = 0;
  expect(await start("second").read()).toBe(NOW_MS);
  const confirmed = NOW_MS + 39 * DAY_MS;
  expect(await start("second", confirmed).read()).toBe(confirmed);
  nowMs += 400 * DAY_MS;
  expect(await start("second", confirmed).read()).toBe(confirmed);
  nowMs = NOW_MS;
  expect(await start("second", NOW_MS + 900 * DAY_MS).read()).toBe(NOW_MS);
});

test("entries of the last minute neither move nor are deleted when the clock is set forward by 40 days", async () => {
  const organization = await makeOrganization(stores);
  const rows = [41, 0].map((daysAgo): StoredRow => {
    const receivedMs = NOW_MS - daysAgo * DAY_MS;
    return {
      organizationId: organization,
      ts: BigInt(receivedMs) * 1_000_000n,
      id: idAt(receivedMs),
      message: "x",
    };
  });
  await insertRows(stores.clickhouse, rows);
  const run = () => {
    const clock = start();
    return testArchiver(stores, temporary.path, {
      archiveDays: 60,
      now: () => nowMs,
      believedNow: () => clock.read(),
    });
  };
  await run().run();
  const isHot = async () => (await hotIds(stores, organization)).length;
  const isArchived = async () => (await unitsOf(stores, organization)).length;
  expect([await isHot(), await isArchived()]).toEqual([1, 1]);
  nowMs += 40 * DAY_MS;
  const jumped = run();
  await jumped.run();
  expect([await isHot(), await isArchived()]).toEqual([1, 1]);
  expect(jumped.archiver.status()).toMatchObject({ state: "degraded" });
  bootMs += 40 * DAY_MS;
  await run().run();
  expect([await isHot(), await isArchived()]).toEqual([0, 1]);
});

test.skipIf(process.platform !== "linux")(
  "the clock of the machine's start goes on and names the start",
  () => {
    const [first, second] = [openBootClock()(), openBootClock()()];
    expect(second.boot).toBe(first.boot);
    expect(second.ms).toBeGreaterThanOrEqual(first.ms);
    expect(first.ms).toBeGreaterThan(0);
  },
);
