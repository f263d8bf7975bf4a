import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../../../harness/eventually.ts";
import { proofRounds } from "../../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { faultsOfLedger } from "./ledger.ts";
import { insertMonitors, insertOrganization, storedChecks } from "./monitor-fixture.ts";

/** No slot is lost and none is doubled, whatever happens to those who run the monitors, and whatever the clocks are set to. */

const PROGRAM = join(import.meta.dir, "runner-process.ts");
const MONITORS = 60;
const HOUR_SEC = 3_600;
const ROUNDS = proofRounds({ sample: 1, whole: 20 });

let stores: TestStores;
let target: ReturnType<typeof Bun.serve>;
let monitorIds: number[];
const runners: Bun.Subprocess[] = [];
beforeAll(async () => {
  stores = await openTestStores();
  target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
  await openSettableClock();
  const organizationId = await insertOrganization(stores.postgres);
  const url = `http://127.0.0.1:${target.port}/`;
  monitorIds = await insertMonitors(
    stores.postgres,
    organizationId,
    Array.from({ length: MONITORS }, () => ({ url })),
  );
});
afterAll(async () => {
  for (const child of runners) child.kill("SIGKILL");
  await target.stop(true);
  await stores.close();
});

/** Puts a clock in front of the database's that the test sets: for connections that come afterwards, before their own. */
async function openSettableClock(): Promise<void> {
  const { postgres: sql, clickhouseDatabase: name } = stores;
  await sql`CREATE SCHEMA settable`;
  await sql`CREATE TABLE settable.clock (ahead interval NOT NULL)`;
  await sql`INSERT INTO settable.clock VALUES ('0')`;
  for (const clock of ["now", "clock_timestamp"])
    await sql.unsafe(
      `CREATE FUNCTION settable.${clock}() RETURNS timestamptz LANGUAGE sql STABLE AS
       'SELECT pg_catalog.${clock}() + ahead FROM settable.clock'`,
    );
  await sql.unsafe(`ALTER DATABASE ${name} SET search_path = settable, pg_catalog, public`);
}

function setClock(seconds: number) {
  return stores.postgres`UPDATE settable.clock SET ahead = make_interval(secs => ${seconds})`;
}

function startRunner(owner: string) {
  const child = Bun.spawn([process.execPath, PROGRAM, stores.postgresUrl, owner], {
    stdout: "ignore",
    stderr: "inherit",
  });
  runners.push(child);
  return { owner, child };
}

async function shardsOf(owner: string): Promise<number> {
  const [row] = await stores.postgres<{ shards: number }[]>`
    SELECT count(*)::integer AS shards FROM monitor_shards WHERE owner = ${owner}`;
  return row?.shards ?? 0;
}

/** Until every monitor has been checked anew, by whomever, in a slot that is so much later. */
async function allChecked(laterMs = 1): Promise<void> {
  const read = () => stores.postgres<{ last_slot: string }[]>`
    SELECT last_slot FROM monitor_state ORDER BY monitor_id`;
  const before = await read();
  await eventually("every monitor is checked again", async () =>
    (await read()).every(
      ({ last_slot }, index) => Number(last_slot) >= Number(before[index]?.last_slot) + laterMs,
    ),
  );
}

test("slots recorded are slots due, none doubled: kill -9, SIGSTOP and clock steps of two instances", async () => {
  let first = startRunner(crypto.randomUUID());
  const second = startRunner(crypto.randomUUID());
  const areEven = async () => (await shardsOf(first.owner)) === 32 && (await shardsOf(second.owner)) === 32;
  await eventually("both have their part", areEven);
  await allChecked();
  for (let round = 0; round < ROUNDS; round++) {
    // Killed and begun anew: it has its own back at once.
    first.child.kill("SIGKILL");
    await first.child.exited;
    first = startRunner(first.owner);
    await allChecked();
    // Stopped for longer than a lease: the other one takes over, and what the stopped one does afterwards changes nothing.
    second.child.kill("SIGSTOP");
    await eventually("one takes over", async () => (await shardsOf(first.owner)) === 64);
    await allChecked();
    second.child.kill("SIGCONT");
    await eventually("both have their part again", areEven);
    // Each time to an hour behind the last one: the clock of slots never goes back, so it stands there already.
    await setClock((round + 1) * HOUR_SEC);
    // Not before those who run them have heard of the clock.
    await allChecked((HOUR_SEC * 1_000) / 2);
    await setClock(-HOUR_SEC);
    await allChecked();
    // Dead, and nobody begins it anew, right after the clock was set back.
    first.child.kill("SIGKILL");
    await first.child.exited;
    await setClock(0);
    await eventually("the other one takes over", async () => (await shardsOf(second.owner)) === 64);
    await allChecked();
    first = startRunner(first.owner);
    await eventually("both have their part once more", areEven);
    await allChecked();
  }
  for (const { child } of [first, second]) child.kill("SIGTERM");
  expect(await Promise.all([first.child.exited, second.child.exited])).toEqual([0, 0]);
  const checks = await storedChecks(stores);
  expect(monitorIds.flatMap((monitorId) => faultsOfLedger(checks, monitorId, 1_000))).toEqual([]);
  const made = checks.filter(({ status }) => status === "up").length;
  expect(made).toBeGreaterThan(MONITORS * 4);
  // The clock was set forward by an hour: what was due in it is recorded, too, in one gap or in several.
  const missed = monitorIds.map((id) =>
    checks
      .filter(({ monitorId, status }) => monitorId === id && status === "missed")
      .reduce((sum, { slots }) => sum + slots, 0),
  );
  expect(Math.max(...missed)).toBeGreaterThan(3_000);
});
