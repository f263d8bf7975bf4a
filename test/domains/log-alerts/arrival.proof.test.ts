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
import { type AlertServer, alertServer, makeOrganization, NEVER, PATH, type Told } from "./alert-server.ts";
import type { Death } from "./test-stream.ts";

const HISTORIES = proofRounds({ sample: 10, whole: 1000 });
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const SERVICES = ["pay", "shop"];
const STREAMS = 3;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Of an entry: the time that the others know, a day and more before it came, or the far future. */
type Times = "near" | "1970" | "import" | "2090";

type Step =
  /** Entries come to a server, so many milliseconds after the rule was made by their own time. */
  | {
      readonly kind: "store";
      readonly stream: number;
      readonly entries: readonly {
        readonly service: number;
        readonly afterMs: number;
        readonly times: Times;
      }[];
    }
  | { readonly kind: "seal"; readonly stream: number }
  /** A server dies of sealing and starts again. */
  | { readonly kind: "die"; readonly stream: number; readonly of: Death }
  | { readonly kind: "evaluate"; readonly instances: number }
  | { readonly kind: "pass"; readonly seconds: number };

const RANGE_MS = 12 * MINUTE_MS;
const entry = fc.record({
  service: fc.nat(SERVICES.length - 1),
  // Often at the edges of buckets, and at the same time as others.
  afterMs: fc.oneof(
    fc.integer({ min: 0, max: RANGE_MS }),
    fc.nat(RANGE_MS / (10 * SECOND_MS)).map((bucket) => bucket * 10 * SECOND_MS),
    fc.nat(40).map((second) => second * SECOND_MS),
  ),
  times: fc.oneof<fc.MaybeWeightedArbitrary<Times>[]>(
    { weight: 20, arbitrary: fc.constant("near") },
    { weight: 1, arbitrary: fc.constantFrom("1970", "import", "2090") },
  ),
});
const stream = fc.nat(STREAMS - 1);
const steps = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant<"store">("store"),
        stream,
        entries: fc.array(entry, { minLength: 1, maxLength: 8 }),
      }),
    },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant<"seal">("seal"), stream }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant<"die">("die"),
        stream,
        of: fc.constantFrom<Death>("counting", "inserted"),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant<"evaluate">("evaluate"),
        instances: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant<"pass">("pass"), seconds: fc.integer({ min: 1, max: 150 }) }),
    },
  ),
  { minLength: 4, maxLength: 24 },
);

let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores, STREAMS);
});
afterAll(() => stores.close());

function timeOf(times: Times, nearMs: number, nowMs: number): number {
  if (times === "1970") return 0;
  if (times === "2090") return Date.UTC(2090, 0);
  return times === "import" ? nowMs - DAY_MS - MINUTE_MS : nearMs;
}

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
        const came: { service: string; atMs: number }[] = [];
        for (const step of history) {
          if (step.kind === "store") {
            const near = step.entries.filter(({ times }) => times === "near");
            // Nothing near is from further in the future than clocks differ.
            server.clock.nowMs = Math.max(
              server.clock.nowMs,
              ...near.map(({ afterMs }) => sinceMs + afterMs - 4 * MINUTE_MS),
            );
            const entries = step.entries.map(({ service, afterMs, times }) => {
              const atMs = timeOf(times, sinceMs + afterMs, server.clock.nowMs);
              return { service: SERVICES[service] ?? "", atMs };
            });
            for (const [i, { service, atMs }] of entries.entries()) {
              const times = step.entries[i]?.times;
              if (times === "near") came.push({ service, atMs });
              // What claims to be from the future counts when it came, and what was old nowhere.
              else if (times === "2090") came.push({ service, atMs: server.clock.nowMs });
            }
            await server.streamAt(step.stream).store(
              organizationId,
              entries.map((each) => ({ ...each, message: "failed" })),
            );
          } else if (step.kind === "seal") await server.streamAt(step.stream).seal();
          else if (step.kind === "die") await server.streamAt(step.stream).die(step.of);
          else if (step.kind === "evaluate")
            await Promise.all(
              Array.from({ length: step.instances }, () => server.evaluation().workOnce(NEVER)),
            );
          else server.clock.nowMs += step.seconds * SECOND_MS;
        }
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
        const found = await server.sql<
          {
            group: string;
            fromMs: number;
            toMs: number;
            untilMs: number;
            peak: number;
            isReported: boolean;
          }[]
        >`
          SELECT group_key AS group, peak, is_reported AS "isReported",
            (extract(epoch FROM started_at) * 1000)::double precision AS "fromMs",
            (extract(epoch FROM ended_at) * 1000)::double precision AS "toMs",
            (extract(epoch FROM until_at) * 1000)::double precision AS "untilMs"
          FROM detections WHERE organization_id = ${organizationId} AND merged_into IS NULL`;
        const inOrder = <E extends { group: string; fromMs: number }>(all: readonly E[]): E[] =>
          all.toSorted((one, other) => one.group.localeCompare(other.group) || one.fromMs - other.fromMs);
        expect(inOrder(found.map(({ isReported: _, ...each }) => each))).toEqual(inOrder(wanted));
        // Whoever is told has been told of each, once, and that it is over.
        expect(found.every(({ isReported }) => isReported)).toBe(true);
        const all = await server.toldOf(organizationId);
        const isMissing = ({ key }: Told) => key.endsWith(":no-data");
        const told = all.filter((each) => !isMissing(each));
        const byKey = Map.groupBy(told, ({ key }) => key);
        expect(byKey.size).toBe(new Set(wanted.map(({ group }) => group)).size);
        for (const kinds of byKey.values())
          expect(kinds.map(({ kind }) => kind)).toEqual(
            kinds.map((_, i) => (i % 2 === 0 ? "raised" : "cleared")),
          );
        expect(told.filter(({ kind }) => kind === "raised")).toHaveLength(told.length / 2);
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
