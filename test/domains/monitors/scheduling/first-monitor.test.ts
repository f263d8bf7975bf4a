/** A server that watches nothing keeps nothing to watch with. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SHARDS } from "../../../../src/domains/monitors/scheduling/limits.ts";
import { monotonicMs } from "../../../../src/probes/schedule/slot-clock.ts";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { insertMonitors, insertOrganization, openRunner } from "./monitor-fixture.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

test("the thread that makes checks is begun with the first monitor", async () => {
  const sql = stores.postgres;
  const lines: string[] = [];
  const program = new URL("./tell-beginning.ts", import.meta.url);
  const { scheduler, metrics } = openRunner({ sql, program, onFault: (line) => lines.push(line) });
  scheduler.start();
  await eventually("every monitor would be its own", async () => {
    const { values } = await metrics.shards.get();
    return values[0]?.value === SHARDS;
  });
  const watchedSinceMs = monotonicMs();
  await insertMonitors(sql, await insertOrganization(sql), [{ url: "http://127.0.0.1:1/" }]);
  const line = await eventually("a thread has begun", () => lines.find((each) => each.includes("begun at")));
  expect(Number(/begun at ([\d.]+)/.exec(line)?.[1])).toBeGreaterThanOrEqual(watchedSinceMs);
  await scheduler.stop();
});
