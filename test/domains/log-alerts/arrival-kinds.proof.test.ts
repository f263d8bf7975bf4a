/**
 * The histories of `arrival.proof.test.ts` for rules that judge windows when they are over: what an anomaly has found in the end is what
 * judging the windows from first to last says, in whatever order entries came, and a query is asked of each window once.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization, PATH } from "./alert-server.ts";
import {
  type Came,
  inOrder,
  isToldInTurn,
  play,
  RANGE_MS,
  recordedOf,
  STREAMS,
  steps,
} from "./arrival-history.ts";

const HISTORIES = proofRounds({ sample: 6, whole: 500 });
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores, STREAMS);
});
afterAll(() => stores.close());

interface Point {
  readonly fromMs: number;
  readonly toMs: number;
  readonly untilMs: number;
  readonly peak: number;
}

/** Points closer than a window are one episode. */
function joined(points: readonly Point[], windowMs: number): Point[] {
  const episodes: Point[] = [];
  for (const point of points) {
    const last = episodes.at(-1);
    if (last === undefined || point.fromMs - last.toMs >= windowMs) episodes.push(point);
    else
      episodes[episodes.length - 1] = {
        fromMs: last.fromMs,
        toMs: point.toMs,
        untilMs: Math.max(last.untilMs, point.untilMs),
        peak: Math.max(last.peak, point.peak),
      };
  }
  return episodes;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return ((low ?? 0) + (high ?? 0)) / 2;
}

interface Unusual {
  readonly windowMs: number;
  readonly ratio: number;
  readonly minEvents: number;
  readonly direction: "spike" | "drop" | "both";
}

/** The windows that are unusual, judged from the first to the last with an hour before each that leaves the unusual ones out. */
function unusualWindows(
  { windowMs, ratio, minEvents, direction }: Unusual,
  times: readonly number[],
  { sinceMs, endMs }: { readonly sinceMs: number; readonly endMs: number },
): Point[] {
  const countOf = (startMs: number): number =>
    times.filter((at) => at >= startMs && at < startMs + windowMs).length;
  const firstMs = Math.floor(sinceMs / windowMs) * windowMs;
  const usual = new Map<number, number>();
  for (let at = firstMs - HOUR_MS; at < firstMs; at += windowMs) usual.set(at, countOf(at));
  const found: Point[] = [];
  for (let startMs = firstMs; startMs + windowMs <= endMs; startMs += windowMs) {
    const n = countOf(startMs);
    const before = [...usual].filter(([at]) => at >= startMs - HOUR_MS).map(([, each]) => each);
    const expected = median(before);
    const spread = 1.4826 * median(before.map((each) => Math.abs(each - expected)));
    const scale = Math.max(spread, Math.sqrt(Math.max(expected, 1)));
    const isKnown = before.length > 0 && before.reduce((sum, each) => sum + each, 0) >= minEvents;
    const isSpike = n > ratio * Math.max(expected, 1) && (n - expected) / scale >= 4;
    const isDrop = n * ratio < Math.max(expected, 1) && (expected - n) / scale >= 4;
    if (isKnown && ((isSpike && direction !== "drop") || (isDrop && direction !== "spike")))
      found.push({
        fromMs: startMs,
        toMs: startMs + windowMs,
        untilMs: startMs + windowMs,
        peak: Math.abs(n - expected),
      });
    else usual.set(startMs, n);
  }
  return found;
}

/** Everything is known, and all windows are judged that are over by then. */
async function judgeAll(): Promise<void> {
  await server.work();
  await server.pass(RANGE_MS + 40 * MINUTE_MS);
  for (let round = 0; round < 6; round++) await server.pass(1000);
}

async function judgedThrough(organizationId: number): Promise<number> {
  const [row] = await server.sql<{ ms: number }[]>`
    SELECT (state ->> 'judgedMs')::double precision AS ms FROM rule_groups
    WHERE organization_id = ${organizationId} AND group_key = ''`;
  return row?.ms ?? 0;
}

test("an anomaly has found in the end what judging all windows from first to last says, in whatever order entries come", () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        windowSec: fc.constantFrom(60, 120, 300),
        ratioThreshold: fc.constantFrom(1.5, 2, 3),
        minBaselineEvents: fc.constantFrom(1, 10, 50),
        direction: fc.constantFrom<Unusual["direction"]>("spike", "drop", "both"),
        // Entries of each minute before the rule.
        usual: fc.array(fc.constantFrom(0, 1, 2, 3, 18), { minLength: 1, maxLength: 4 }),
        steps,
      }),
      async ({ usual, steps: history, ...terms }) => {
        const own = await makeOrganization(stores);
        const { windowSec, ratioThreshold: ratio, minBaselineEvents: minEvents, direction } = terms;
        const sinceMs = server.clock.nowMs;
        const before: Came[] = Array.from({ length: 60 }, (_, minute) => minute).flatMap((minute) => {
          const atMs = sinceMs - (minute + 1) * MINUTE_MS;
          const n = usual[minute % usual.length] ?? 0;
          return Array.from({ length: n }, () => ({ service: "pay", atMs, times: "near" as const }));
        });
        await server.store(own, ...before.map(({ atMs }) => ({ atMs, message: "failed" })));
        const rule = { name: "rule", kind: "anomaly", query: "failed", baselineHours: 1, ...terms };
        const made = await server.send(own, "POST", PATH, rule);
        expect(made).toMatchObject({ status: 201 });
        await server.seal();
        const came = await play(server, own, history, { sinceMs, isLate: true });
        await judgeAll();
        const endMs = await judgedThrough(own);
        const windowMs = windowSec * 1000;
        expect(endMs).toBeGreaterThan(sinceMs + RANGE_MS);
        const times = [...before, ...came].map(({ atMs }) => atMs);
        const wanted = joined(
          unusualWindows({ windowMs, ratio, minEvents, direction }, times, { sinceMs, endMs }),
          windowMs,
        );
        const found = await recordedOf(server, own);
        expect(inOrder(found.map(({ isReported: _, ...each }) => each))).toEqual(
          wanted.map((each) => ({ group: "", ...each })),
        );
        // Whatever was found in between and is not any more was told as over, too; what is found was told.
        expect(found.every(({ isReported }) => isReported)).toBe(true);
        const open = wanted.some(({ untilMs }) => untilMs + windowMs > endMs);
        if (!open) expect(isToldInTurn(await server.toldOf(own))).toBe(true);
        const { status, body } = await server.send(own, "POST", `${PATH}/preview`, {
          ...rule,
          ...{ from: new Date(sinceMs).toISOString(), to: new Date(endMs).toISOString() },
        });
        expect([status, body.code]).toEqual([200, undefined]);
        expect(body.episodesTotal).toBe(wanted.length);
        await server.send(own, "DELETE", `${PATH}/${made.body.id}`);
      },
    ),
    { numRuns: HISTORIES },
  ));

test("a query is asked of each window once, whichever server asks, and what it found is what the window's entries say", () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        windowSec: fc.constantFrom(60, 120, 300),
        everySec: fc.option(fc.constantFrom(60, 120)),
        least: fc.integer({ min: 1, max: 4 }),
        threshold: fc.integer({ min: 1, max: 2 }),
        isGrouped: fc.boolean(),
        steps,
      }),
      async ({ windowSec, everySec, least, threshold, isGrouped, steps: history }) => {
        const own = await makeOrganization(stores);
        const made = await server.send(own, "POST", PATH, {
          ...{ name: "rule", kind: "scheduled", windowSec, threshold },
          kql: `where message == 'failed' | summarize n = count() by service | where n >= ${least}`,
          groupBy: isGrouped ? ["service"] : [],
          ...(everySec !== null && { everySec }),
        });
        expect(made).toMatchObject({ status: 201 });
        await server.seal();
        const sinceMs = server.clock.nowMs;
        // What comes to a window that was asked about is not asked about again, so nothing does.
        const came = await play(server, own, history, { sinceMs, isLate: false });
        await judgeAll();
        const windowMs = windowSec * 1000;
        const everyMs = (everySec ?? windowSec) * 1000;
        const endMs = await judgedThrough(own);
        const points = new Map<string, Point[]>();
        // By its own time, so what claims to be from 2090 is in none.
        const near = came.filter(({ times }) => times === "near");
        for (let at = Math.floor(sinceMs / everyMs) * everyMs + everyMs; at <= endMs; at += everyMs) {
          const inside = near.filter(({ atMs }) => atMs >= at - windowMs && atMs < at);
          const rows = [...Map.groupBy(inside, ({ service }) => service)].filter(
            ([, entries]) => entries.length >= least,
          );
          const byGroup = Map.groupBy(rows, ([service]) => (isGrouped ? JSON.stringify([service]) : ""));
          for (const [group, { length: peak }] of byGroup) {
            if (peak < threshold) continue;
            const point = { fromMs: at, toMs: at, untilMs: at + everyMs, peak };
            points.set(group, [...(points.get(group) ?? []), point]);
          }
        }
        const wanted = [...points].flatMap(([group, each]) =>
          joined(each, windowMs).map((episode) => ({ group, ...episode })),
        );
        const found = await recordedOf(server, own);
        expect(inOrder(found.map(({ isReported: _, ...each }) => each))).toEqual(inOrder(wanted));
        expect(found.every(({ isReported }) => isReported)).toBe(true);
        const told = await server.toldOf(own);
        expect(isToldInTurn(told)).toBe(true);
        expect(new Set(told.map(({ key }) => key)).size).toBe(points.size);
        await server.send(own, "DELETE", `${PATH}/${made.body.id}`);
      },
    ),
    { numRuns: HISTORIES },
  ));
