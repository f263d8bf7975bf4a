import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { CheckRows } from "../../../src/domains/monitors/reads/check-rows.ts";
import { queryCaller } from "../../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";
import { insertChecks } from "./stored-checks.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const MINUTE_MS = 60_000;
const BEGAN_MS = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 600 * MINUTE_MS;
const MONITORS = [11, 12, 13];

const check = fc.record({
  monitorId: fc.constantFrom(...MONITORS, 99),
  minute: fc.integer({ min: 0, max: 59 }),
  status: fc.constantFrom("up", "up", "degraded", "down", "unknown", "missed"),
  durationMs: fc.integer({ min: 0, max: 5_000 }),
  slots: fc.constantFrom(1, 1, 7),
});
const span = fc
  .tuple(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 1, max: 60 }))
  .map(([from, length]) => ({
    fromMs: BEGAN_MS + from * MINUTE_MS,
    toMs: BEGAN_MS + (from + length) * MINUTE_MS,
  }));

/** The nearest rank. */
function percentileOf(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

test("what checks come to is what counting them one by one says, each monitor in its own time", async () => {
  let organizationId = 1_000;
  await fc.assert(
    fc.asyncProperty(
      fc.array(check, { minLength: 1, maxLength: 60 }),
      // Two of them have the same time, as most have; the third one's begins or ends with it, or neither.
      fc.tuple(span, span, fc.constantFrom("begins", "ends", "neither")).map(([first, other, how]) => [
        first,
        first,
        {
          fromMs: how === "begins" ? first.fromMs : Math.min(other.fromMs, first.toMs - MINUTE_MS),
          toMs: how === "ends" ? first.toMs : Math.max(other.toMs, first.fromMs + MINUTE_MS),
        },
      ]),
      async (checks, spans) => {
        organizationId += 1;
        const at = ({ minute }: { minute: number }) => BEGAN_MS + minute * MINUTE_MS;
        await insertChecks(
          stores,
          checks.map((one) => ({ ...one, organizationId, atMs: at(one) })),
        );
        const of = MONITORS.flatMap((monitorId, index) => {
          const span = spans[index];
          return span === undefined ? [] : [{ monitorId, span }];
        });
        const found = await new CheckRows(queryRunner(stores)).stats(
          queryCaller(undefined, organizationId),
          of,
        );
        for (const { monitorId, span } of of) {
          const own = checks.filter(
            (one) => one.monitorId === monitorId && at(one) >= span.fromMs && at(one) < span.toMs,
          );
          const slotsOf = (status?: string): number =>
            own
              .filter((one) => status === undefined || one.status === status)
              .reduce((sum, { slots }) => sum + slots, 0);
          const times = own
            .filter(({ status }) => status === "up" || status === "degraded")
            .map(({ durationMs }) => durationMs)
            .sort((a, b) => a - b);
          const stats = found.get(monitorId);
          if (own.length === 0) {
            expect(stats).toBeUndefined();
            continue;
          }
          expect(stats?.counts).toEqual({
            total: slotsOf(),
            up: slotsOf("up"),
            degraded: slotsOf("degraded"),
            down: slotsOf("down"),
            unknown: slotsOf("unknown"),
            missed: slotsOf("missed"),
          });
          if (times.length === 0) {
            expect(stats?.times).toBeNull();
            continue;
          }
          const avg = times.reduce((sum, time) => sum + time, 0) / times.length;
          expect(stats?.times).toEqual({
            avg: Math.round(avg * 1000) / 1000,
            min: times[0] ?? 0,
            p50: percentileOf(times, 0.5),
            p95: percentileOf(times, 0.95),
            p99: percentileOf(times, 0.99),
            max: times.at(-1) ?? 0,
          });
        }
      },
    ),
    { numRuns: 30 },
  );
});
