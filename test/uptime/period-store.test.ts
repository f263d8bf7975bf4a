/** The periods of monitors as they are stored: one behind the other, whatever is begun when. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { beginPeriods } from "../../src/uptime/period-store.ts";
import { readPeriods } from "../../src/uptime/read-periods.ts";
import type { Period } from "../../src/uptime/slo.ts";
import { insertMonitors, insertOrganization } from "../domains/monitors/scheduling/monitor-fixture.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

let stores: TestStores;
let organizationId: number;
beforeAll(async () => {
  stores = await openTestStores();
  organizationId = await insertOrganization(stores.postgres);
});
afterAll(() => stores.close());

const START_MS = Date.UTC(2026, 0, 1);
const LENGTH_MS = 40;

interface Begun {
  readonly monitor: number;
  readonly status: Period["status"];
  readonly atMs: number;
}

const begun = fc.record({
  monitor: fc.nat(1),
  status: fc.constantFrom<Period["status"]>("up", "degraded", "down", "paused", "unknown"),
  atMs: fc.nat(LENGTH_MS),
});
/** What one transaction begins after the other. */
const transactions = fc.array(fc.array(begun, { maxLength: 4 }), { maxLength: 5 });

/** Begins them of new monitors and reads what is stored, by monitor. */
async function stored(given: readonly (readonly Begun[])[]): Promise<(readonly Period[])[]> {
  const { postgres: sql } = stores;
  const ids = await insertMonitors(sql, organizationId, [{ url: "a" }, { url: "b" }]);
  for (const periods of given)
    await sql.begin((tx) =>
      beginPeriods(
        tx,
        periods.map(({ monitor, status, atMs }) => ({
          organizationId,
          monitorId: ids[monitor] ?? 0,
          status,
          sinceMs: START_MS + atMs,
        })),
      ),
    );
  const all = { fromMs: START_MS - 1, toMs: START_MS + LENGTH_MS + 1 };
  const { byMonitor } = await sql.begin((tx) => readPeriods(tx, organizationId, ids, all));
  return ids.map((id) => byMonitor.get(id) ?? []);
}

test("follow each other without a gap and without an overlap, and the last one is what was begun last", async () => {
  await fc.assert(
    fc.asyncProperty(transactions, async (given) => {
      const all = given.flat();
      for (const [monitor, periods] of (await stored(given)).entries()) {
        const last = all.findLast((period) => period.monitor === monitor);
        expect(periods.at(-1)?.status).toBe(last?.status);
        expect(periods.filter(({ toMs }) => toMs === null)).toHaveLength(last === undefined ? 0 : 1);
        expect(periods.slice(1).map(({ fromMs }) => fromMs)).toEqual(
          periods.slice(0, -1).map(({ toMs }) => toMs ?? Number.NaN),
        );
      }
    }),
    { numRuns: 60 },
  );
});

test("say of every moment what was begun last by then, where they are begun in the order of time", async () => {
  await fc.assert(
    fc.asyncProperty(transactions, async (given) => {
      const times = given
        .flat()
        .map(({ atMs }) => atMs)
        .sort((a, b) => a - b);
      let index = 0;
      const inOrder = given.map((periods) =>
        periods.map((period) => {
          const atMs = times[index] ?? 0;
          index += 1;
          return { ...period, atMs };
        }),
      );
      for (const [monitor, periods] of (await stored(inOrder)).entries())
        for (let ms = 0; ms <= LENGTH_MS; ms += 1) {
          const said = inOrder.flat().findLast((period) => period.monitor === monitor && period.atMs <= ms);
          const found = periods.find(
            ({ fromMs, toMs }) => fromMs - START_MS <= ms && (toMs === null || ms < toMs - START_MS),
          );
          expect(found?.status).toBe(said?.status);
        }
    }),
    { numRuns: 60 },
  );
});
