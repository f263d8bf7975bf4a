import { afterAll, beforeAll, expect, test } from "bun:test";
import { Assignments } from "../../../../src/domains/monitors/scheduling/assignments.ts";
import { createLogger } from "../../../../src/log.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { specOf } from "../../../probes/checking.ts";
import { insertMonitors, insertOrganization } from "./monitor-fixture.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const SHARDS = Array.from({ length: 64 }, (_, shard) => shard);

test("a change is seen at once; what has not changed for a minute is read again only when all are compared", async () => {
  const { postgres: sql } = stores;
  const organizationId = await insertOrganization(sql);
  const [first = 0, second = 0] = await insertMonitors(sql, organizationId, [
    { url: "http://192.0.2.1/" },
    { url: "http://192.0.2.2/" },
  ]);
  const beganMs = Date.now();
  const change = (id: number, seconds: number) =>
    sql`UPDATE monitors SET updated_at = ${new Date(beganMs + seconds * 1000)} WHERE id = ${id}`;
  await change(first, 0);
  await change(second, 0);
  let nowSec = 0;
  const assignments = new Assignments({
    sql,
    specOf: ({ url }) => specOf({ type: "http", url }),
    isUsedUp: () => false,
    monotonicNow: () => nowSec * 1000,
    log: createLogger("silent"),
  });
  const assignedAt = async (second: number): Promise<number[]> => {
    nowSec = second;
    const { assign } = await assignments.sync(SHARDS, 0);
    return assign.map(({ monitorId }) => monitorId);
  };
  expect(await assignedAt(0)).toEqual([first, second]);
  await change(second, 30);
  expect(await assignedAt(30)).toEqual([second]);
  // It says that it is older than anything that is looked for by then.
  await change(first, -20);
  expect(await assignedAt(59)).toEqual([]);
  expect(await assignedAt(61)).toEqual([first]);
});
