/** Entries around the moment at which a rule is made, before and after it, in any order: what is found is what counting around each single entry says. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization, PATH } from "./alert-server.ts";
import { recordedOf } from "./arrival-history.ts";

const HISTORIES = proofRounds({ sample: 10, whole: 500 });
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

const entry = (host: string, atMs: number) => ({ message: "zw1 fail", host, atMs });

/** An entry of one of two hosts, so many milliseconds from when the bucket began in which the rule was made. */
const aroundMs = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 9999 }) },
  { weight: 1, arbitrary: fc.nat(10).map((second) => second * SECOND_MS) },
  { weight: 1, arbitrary: fc.integer({ min: -45_000, max: 15_000 }) },
);
/** Most are from the side of that moment on which they come; some are late, or of a clock that is ahead. */
const one = fc.record({
  host: fc.constantFrom("a", "b"),
  aroundMs,
  isOdd: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
const some = fc.array(one, { minLength: 1, maxLength: 6 });

test("what is found is each point whose window holds an entry from after the rule, or one that came after it, in any order", () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        threshold: fc.integer({ min: 1, max: 3 }),
        windowSec: fc.constantFrom(30, 45),
        madeAfterMs: fc.integer({ min: 1, max: 9999 }),
        before: some,
        after: fc.array(some, { minLength: 1, maxLength: 4 }),
      }),
      async ({ threshold, windowSec, madeAfterMs, before, after }) => {
        server.clock.nowMs = Math.ceil((server.clock.nowMs + 1) / MINUTE_MS) * MINUTE_MS + madeAfterMs - 1;
        const own = await makeOrganization(stores);
        const madeMs = server.clock.nowMs + 1;
        const beginsMs = madeMs - madeAfterMs;
        const came: { readonly host: string; readonly atMs: number; readonly isLater: boolean }[] = [];
        const store = async (entries: typeof before, isLater: boolean): Promise<void> => {
          const sent = entries.map(({ host, aroundMs: ms, isOdd }) => {
            const usualMs = isLater ? Math.max(ms, madeAfterMs) : Math.min(ms, madeAfterMs - 1);
            return entry(host, beginsMs + (isOdd ? ms : usualMs));
          });
          came.push(...sent.map(({ host, atMs }) => ({ host, atMs, isLater })));
          await server.store(own, ...sent);
        };
        await store(before, false);
        if (threshold % 2 === 0) await server.seal();
        server.clock.nowMs = madeMs;
        const terms = { name: "rule", query: "zw1", threshold, windowSec, groupBy: ["host"] };
        await server.send(own, "POST", PATH, terms);
        for (const entries of after) {
          server.clock.nowMs += 1;
          await store(entries, true);
          await server.work();
        }
        // Wherever the clock of who sent it was, all of it is over by then.
        await server.pass(5 * MINUTE_MS);

        const windowMs = windowSec * SECOND_MS;
        const wanted = [...Map.groupBy(came, ({ host }) => host)].flatMap(([host, all]) => {
          const points = [...new Set(all.map(({ atMs }) => atMs))].filter((t) => {
            const held = all.filter(({ atMs }) => atMs > t - windowMs && atMs <= t);
            const isNew = held.some(({ atMs, isLater }) => isLater || atMs >= madeMs);
            return t >= beginsMs && held.length >= threshold && isNew;
          });
          // All of them are closer to each other than a window.
          if (points.length === 0) return [];
          const [fromMs, toMs] = [Math.min(...points), Math.max(...points)];
          return [{ group: JSON.stringify([host]), fromMs, toMs }];
        });
        const found = (await recordedOf(server, own)).map(({ group, fromMs, toMs }) => ({
          group,
          fromMs,
          toMs,
        }));
        const inOrder = (all: typeof found) =>
          all.toSorted((one, other) => one.group.localeCompare(other.group));
        expect(inOrder(found)).toEqual(inOrder(wanted));
        const raised = (await server.toldOf(own)).filter(({ kind }) => kind === "raised");
        expect(raised).toHaveLength(wanted.length);
      },
    ),
    { numRuns: HISTORIES },
  ));
