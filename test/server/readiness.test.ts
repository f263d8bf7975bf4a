/** What `/health/ready` and `/health/ingest` say of the stores. */

import { expect, test } from "bun:test";
import { serverReadiness } from "../../src/server/readiness.ts";
import type { StoreStatus } from "../../src/storage/readiness.ts";

const FINE = { ok: true, isDamaged: false, detail: "", since: new Date(), restarts: 0 };

function readiness(...statuses: readonly StoreStatus[]) {
  return serverReadiness({ stores: { statuses: () => statuses }, ingestChecks: [], checks: [] });
}

test("a store that lost something when it started is degraded and serves on, one that does not answer is down", async () => {
  const stores = [
    { ...FINE, name: "clickhouse", isDamaged: true, detail: "Some could not be read." },
    { ...FINE, name: "postgres", ok: false, isDamaged: true },
  ];
  expect(await readiness(...stores).all.check()).toEqual([
    { name: "clickhouse", state: "degraded", detail: "Some could not be read." },
    { name: "postgres", state: "down" },
  ]);
});

test("without Redis the server is degraded, and an acknowledgement of entries asks Postgres alone", async () => {
  const { all, ingest } = readiness(
    { ...FINE, name: "clickhouse", ok: false },
    { ...FINE, name: "postgres" },
    { ...FINE, name: "redis", ok: false },
  );
  expect((await all.check()).map(({ state }) => state)).toEqual(["down", "up", "degraded"]);
  expect(await ingest.check()).toEqual([{ name: "postgres", state: "up" }]);
});
