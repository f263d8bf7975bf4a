/** An instance that falls silent in the middle of a transaction holds up nobody for longer than that may last. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createPostgres } from "../../../../src/storage/postgres.ts";
import { eventually } from "../../../harness/eventually.ts";
import { waitAsUsual } from "../../../harness/patience.ts";
import { openStatementGate } from "../../../harness/statement-gate.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { faultsOfLedger } from "./ledger.ts";
import { insertMonitors, insertOrganization, openRunner, storedChecks } from "./monitor-fixture.ts";

waitAsUsual();

let stores: TestStores;
let target: ReturnType<typeof Bun.serve>;
let monitorId: number;
beforeAll(async () => {
  stores = await openTestStores();
  target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
  const organizationId = await insertOrganization(stores.postgres);
  const url = `http://127.0.0.1:${target.port}/`;
  [monitorId = 0] = await insertMonitors(stores.postgres, organizationId, [{ url }]);
});
afterAll(async () => {
  await target.stop(true);
  await stores.close();
});

async function lastSlot(): Promise<number> {
  const [row] = await stores.postgres<{ last_slot: string }[]>`
    SELECT last_slot FROM monitor_state WHERE monitor_id = ${monitorId}`;
  return Number(row?.last_slot ?? 0);
}

test.each([
  // The first transaction of an instance, which takes all shards and is not over.
  ["shares monitors out", "commit"],
  ["records rounds", "UPDATE monitor_state AS stored"],
])(
  "one that falls silent while it %s is replaced, and no slot is lost or doubled",
  async (_what, statement) => {
    const database = new URL(stores.postgresUrl);
    const gate = await openStatementGate({ host: database.hostname, port: Number(database.port) });
    database.host = `127.0.0.1:${gate.port}`;
    gate.stopAt(statement);
    const behindGate = createPostgres(database.href);
    const silent = openRunner({ sql: behindGate });
    silent.scheduler.start();
    await gate.stopped;
    const before = await lastSlot();
    const other = openRunner({ sql: stores.postgres });
    other.scheduler.start();
    await eventually("the other one records rounds", async () => (await lastSlot()) > before);
    await gate.close();
    await Promise.all([silent.scheduler.stop(), other.scheduler.stop()]);
    await behindGate.end({ timeout: 0 });
    expect(faultsOfLedger(await storedChecks(stores), monitorId, 1_000)).toEqual([]);
  },
);
