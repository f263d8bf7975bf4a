/**
 * Entries that come in any order, as late as they like, some of them from long ago or the far future, to three servers that seal,
 * evaluate at the same time, and die around each step: what is recorded in the end is what counting around each single entry
 * says, all of it was told, once, and so was what is missing.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { stretchesOf } from "../../rules/evaluation/brute-force.ts";
import { type AlertServer, alertServer, makeOrganization, PATH, type Told } from "./alert-server.ts";
import { inOrder, isToldInTurn, play, RANGE_MS, recordedOf, STREAMS, steps } from "./arrival-history.ts";

const HISTORIES = proofRounds({ sample: 10, whole: 1000 });
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores, STREAMS);
});
afterAll(() => stores.close());

/**
 * In the end nothing has come for long: each group that ever had an entry is missing, told and taken back in turn. Since when is that
 * of an entry, and not of the newest where that one came so late that it was missed again by then.
 */
function checkMissing(
  told: readonly Told[],
  noDataSec: number | null,
  timesOf: ReadonlyMap<string, readonly number[]>,
): void {
  const byKey = Map.groupBy(told, ({ key }) => key.replace(/^rule:log:\d+:/, "").replace(/:?no-data$/, ""));
  expect(new Set(byKey.keys())).toEqual(new Set(noDataSec === null ? [] : timesOf.keys()));
  for (const [group, own] of byKey) {
    expect(own.map(({ kind }) => kind)).toEqual(own.map((_, i) => (i % 2 === 0 ? "raised" : "cleared")));
    expect(own.length % 2).toBe(1);
    for (const { kind, payload } of own)
      if (kind === "raised") expect(timesOf.get(group)).toContain(Date.parse(payload.since ?? ""));
  }
}

test("what is found and told is what the entries say, in whatever order they come", () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        threshold: fc.integer({ min: 1, max: 5 }),
        windowSec: fc.constantFrom(30, 45, 60, 120, 300),
        isGrouped: fc.boolean(),
        // Not the least of entries that recover, but how many fewer than fire; null where the two are one.
        recovers: fc.option(fc.integer({ min: 1, max: 4 })),
        noDataSec: fc.option(fc.constantFrom(60, 180, 600)),
        steps,
      }),
      async ({ threshold, windowSec, isGrouped, recovers, noDataSec, steps: history }) => {
        const organizationId = await makeOrganization(stores);
        const groupBy = isGrouped ? ["service"] : [];
        const recoverThreshold = recovers === null || recovers >= threshold ? null : threshold - recovers;
        const rule = {
          ...{ name: "rule", query: "failed", threshold, windowSec, groupBy },
          ...(recoverThreshold !== null && { recoverThreshold }),
          ...(noDataSec !== null && { noDataSec }),
        };
        const made = await server.send(organizationId, "POST", PATH, rule);
        await server.seal();
        const sinceMs = server.clock.nowMs;
        const came = await play(server, organizationId, history, { sinceMs, isLate: true });
        await server.work();
        await server.pass(RANGE_MS + 40 * MINUTE_MS);
        await server.pass(SECOND_MS);

        const groups = Map.groupBy(came, ({ service }) => (isGrouped ? JSON.stringify([service]) : ""));
        const wanted = [...groups].flatMap(([group, entries]) =>
          stretchesOf(
            { threshold, windowMs: windowSec * SECOND_MS },
            entries.map(({ atMs }) => atMs),
            10 * SECOND_MS,
          ).map(({ fromMs, toMs, untilMs, peak }) => ({ group, fromMs, toMs, untilMs, peak })),
        );
        const found = await recordedOf(server, organizationId);
        expect(inOrder(found.map(({ isReported: _, ...each }) => each))).toEqual(inOrder(wanted));
        // Whoever is told has been told of each, once, and that it is over.
        expect(found.every(({ isReported }) => isReported)).toBe(true);
        const all = await server.toldOf(organizationId);
        const isMissing = ({ key }: Told) => key.endsWith(":no-data");
        const told = all.filter((each) => !isMissing(each));
        const byKey = Map.groupBy(told, ({ key }) => key);
        expect(byKey.size).toBe(new Set(wanted.map(({ group }) => group)).size);
        expect(isToldInTurn(told)).toBe(true);
        const timesOf = new Map([...groups].map(([group, own]) => [group, own.map(({ atMs }) => atMs)]));
        // Without groups it is the rule of which nothing comes, from when it was made on.
        if (!isGrouped) timesOf.set("", [sinceMs, ...(timesOf.get("") ?? [])]);
        checkMissing(all.filter(isMissing), noDataSec, timesOf);
        // A preview of the same range is the same code over the entries.
        const { status, body } = await server.send(organizationId, "POST", `${PATH}/preview`, {
          ...rule,
          ...{ from: new Date(sinceMs).toISOString(), to: new Date(server.clock.nowMs).toISOString() },
        });
        expect([status, body.code]).toEqual([200, undefined]);
        expect(body.episodesTotal).toBe(wanted.length);
        await server.send(organizationId, "DELETE", `${PATH}/${made.body.id}`);
      },
    ),
    { numRuns: HISTORIES },
  ));
