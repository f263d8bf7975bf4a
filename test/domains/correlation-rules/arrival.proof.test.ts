/**
 * Entries of several values in common, stored in any order on several servers that seal, evaluate at the same time and die around each
 * step; rules that are made before, between and after them. What is recorded in the end is what trying everything finds, whether it
 * was counted as it came or from before the rule was made, and a preview of the same range says the same.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { bruteCardinality, bruteSequence } from "../../rules/evaluation/brute-correlation.ts";
import {
  type AlertServer,
  alertServer,
  makeOrganization,
  NEVER,
  type Told,
} from "../log-alerts/alert-server.ts";
import type { Death, Entry } from "../log-alerts/test-stream.ts";

const PATH = "/api/v1/correlation-rules";
/** Of each history every rule and value in common is a case of its own. */
const RULES = 6;
const JOINS = 100;
const HISTORIES = proofRounds({ sample: 1, whole: 170 });
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
const STREAMS = 3;
const STEPS = 12;
/** How much further than its clock the newest entry may be that a server is given. */
const AHEAD_MS = 290 * SECOND_MS;

/** Of an entry: the time that the others know, a day and more before it came, or the far future. */
type Times = "near" | "import" | "2090";

/** As different sources write one address. */
const FORMS = [
  ["client.ip", "sshd"],
  ["sourceIPAddress", "cloudtrail"],
  ["ClientIP", "office"],
] as const;
const VALUES = ["ana", "ben", "cleo", "dora"];
const SIGNS = ["alpha", "beta", "gamma", "delta"];

const entryOf = fc.record({
  /** When in the history it comes. */
  step: fc.nat(STEPS - 1),
  // Often whole seconds, and at the same time as others.
  afterMs: fc.oneof(
    { weight: 4, arbitrary: fc.nat(20).map((tens) => tens * 10 * SECOND_MS) },
    { weight: 2, arbitrary: fc.nat(200).map((seconds) => seconds * SECOND_MS) },
    { weight: 1, arbitrary: fc.nat(200 * SECOND_MS) },
  ),
  times: fc.oneof<fc.MaybeWeightedArbitrary<Times>[]>(
    { weight: 30, arbitrary: fc.constant("near") },
    { weight: 1, arbitrary: fc.constantFrom("import", "2090") },
  ),
  form: fc.constantFrom(...FORMS),
  value: fc.option(fc.constantFrom(...VALUES), { freq: 10 }),
  signs: fc.subarray(SIGNS),
  hasJoin: fc.integer({ min: 0, max: 19 }).map((roll) => roll > 0),
});
const joinOf = fc.record({
  beginsMs: fc.nat(3).map((minutes) => minutes * MINUTE_MS),
  entries: fc.array(entryOf, { minLength: 2, maxLength: 9, size: "max" }),
});
/** Entries of a time come together, so that what is looked at again is not all there is; or each when it likes. */
const BLOCK_MS = 20 * SECOND_MS;
const arrivalOf = fc.oneof(
  { weight: 3, arbitrary: fc.array(fc.nat(STEPS - 1), { minLength: 20, maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const courseOf = fc.record({
  stream: fc.nat(STREAMS - 1),
  passes: fc.integer({ min: 0, max: 20 }),
  ends: fc.constantFrom<"with nothing" | "sealed" | "evaluated" | Death>(
    ...(["with nothing", "sealed", "evaluated", "evaluated", "counting", "inserted"] as const),
  ),
});
const ruleOf = fc.record({
  /** Before which step it is made. */
  madeAt: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: STEPS })),
  windowSec: fc.constantFrom(30, 45, 60, 120, 300),
  joinField: fc.constantFrom("sourceAddress", "host"),
  /** Where in the history a preview of it begins. */
  previewsAfterMs: fc.constantFrom(0, 0, 2 * MINUTE_MS, 4 * MINUTE_MS),
  asks: fc.oneof(
    fc.record({
      kind: fc.constant<"sequence">("sequence"),
      signs: fc.array(fc.constantFrom(...SIGNS), { minLength: 2, maxLength: 4 }),
    }),
    fc.record({
      kind: fc.constant<"cardinality">("cardinality"),
      sign: fc.constantFrom(...SIGNS),
      threshold: fc.integer({ min: 2, max: 4 }),
    }),
  ),
});
type Rule = typeof ruleOf extends fc.Arbitrary<infer R> ? R : never;

/** An entry as it came, by the clock of alerts. */
interface Came {
  readonly id: string;
  readonly atMs: number;
  readonly join: string;
  readonly value: string;
  readonly signs: readonly string[];
}

interface Found {
  readonly group: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly untilMs: number;
  readonly peak: number;
}

let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores, STREAMS);
});
afterAll(() => stores.close());

const termsOf = ({ windowSec, joinField, asks }: Rule, name: string) => ({
  ...{ name, kind: asks.kind, windowSec, joinField },
  ...(asks.kind === "sequence"
    ? { steps: asks.signs.map((sign) => ({ kql: `message has "${sign}"` })) }
    : { matchKql: `message has "${asks.sign}"`, distinctField: "userName", threshold: asks.threshold }),
});

/** The moments of a value in common at which the rule finds what it asks for. */
function pointsOf({ asks, windowSec }: Rule, own: readonly Came[]): { atMs: number; peak: number }[] {
  const windowMs = windowSec * SECOND_MS;
  if (asks.kind === "cardinality") {
    const hits = own.filter(({ signs, value }) => signs.includes(asks.sign) && value !== "");
    return bruteCardinality(hits, asks.threshold, windowMs).map(({ atMs, values }) => ({
      atMs,
      peak: values,
    }));
  }
  const hits = own.map((each) => ({
    ...each,
    steps: asks.signs.flatMap((sign, i) => (each.signs.includes(sign) ? [i] : [])),
  }));
  return [...bruteSequence(hits, asks.signs.length, windowMs).keys()]
    .toSorted((a, b) => a - b)
    .map((atMs) => ({ atMs, peak: asks.signs.length }));
}

/** What is found of every value in common between two moments, joined where it is closer than a window. */
function episodesOf(rule: Rule, came: readonly Came[], fromMs: number, toMs: number): Found[] {
  const windowMs = rule.windowSec * SECOND_MS;
  return [...Map.groupBy(came, ({ join }) => join)].flatMap(([join, own]) => {
    const episodes: Found[] = [];
    for (const { atMs, peak } of pointsOf(rule, own).filter((at) => at.atMs >= fromMs && at.atMs < toMs)) {
      const last = episodes.at(-1);
      const isOne = last !== undefined && atMs - last.toMs < windowMs;
      const begun = isOne ? last : { group: JSON.stringify([join]), fromMs: atMs, peak };
      if (isOne) episodes.pop();
      episodes.push({ ...begun, toMs: atMs, untilMs: atMs + windowMs, peak: Math.max(begun.peak, peak) });
    }
    return episodes;
  });
}

const inOrder = (all: readonly Found[]): Found[] =>
  all.toSorted((one, other) => one.group.localeCompare(other.group) || one.fromMs - other.fromMs);

interface Shown {
  readonly entryId: string;
  readonly at: string;
  readonly step?: number;
  readonly value?: string;
}

/** What is shown of an episode are entries that are what the rule asks for, by their own times. */
function checkShown(
  rule: Rule,
  shown: readonly Shown[],
  came: ReadonlyMap<string, Came>,
  atMs: number,
): void {
  const entries = shown.map(({ entryId }) => came.get(entryId));
  const times = entries.map((entry) => entry?.atMs ?? Number.NaN);
  expect(new Set(entries.map((entry) => entry?.join)).size).toBe(1);
  expect(new Set(shown.map(({ entryId }) => entryId)).size).toBe(shown.length);
  const { asks, windowSec } = rule;
  if (asks.kind === "sequence") {
    expect(entries.map((entry, i) => entry?.signs.includes(asks.signs[i] ?? ""))).toEqual(
      asks.signs.map(() => true),
    );
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBe(atMs);
    expect(atMs - (times[0] ?? 0)).toBeLessThanOrEqual(windowSec * SECOND_MS);
  } else {
    expect(entries.map((entry) => entry?.value)).toEqual(shown.map(({ value }) => value));
    expect(new Set(shown.map(({ value }) => value)).size).toBeGreaterThanOrEqual(asks.threshold);
    expect(times.every((ms) => ms <= atMs && ms > atMs - windowSec * SECOND_MS)).toBe(true);
  }
}

test("what is found live, from before a rule and in a preview is what trying everything finds, in whatever order entries come", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(joinOf, { minLength: JOINS, maxLength: JOINS }),
      arrivalOf,
      fc.array(courseOf, { minLength: STEPS, maxLength: STEPS }),
      fc.array(ruleOf, { minLength: RULES, maxLength: RULES }),
      async (joins, arrival, course, rules) => {
        const organizationId = await makeOrganization(stores);
        const startMs = server.clock.nowMs;
        const stepOf = (nearMs: number, step: number): number =>
          arrival?.[Math.floor((nearMs - startMs) / BLOCK_MS)] ?? step;
        const came: Came[] = [];
        const made = new Map<Rule, { id: number; sinceMs: number }>();
        const make = async (due: readonly Rule[]): Promise<void> => {
          for (const rule of due) {
            const sinceMs = server.clock.nowMs;
            const terms = termsOf(rule, `rule ${made.size}`);
            const { status, body } = await server.send(organizationId, "POST", PATH, terms);
            expect({ status, body }).toMatchObject({ status: 201 });
            made.set(rule, { id: body.id, sinceMs });
          }
        };
        for (const [at, { stream, passes, ends }] of course.entries()) {
          server.clock.nowMs += passes * SECOND_MS;
          await make(rules.filter(({ madeAt }) => madeAt === at));
          const coming = joins.flatMap(({ beginsMs, entries }, join) =>
            entries
              .map((entry) => ({
                ...entry,
                join: `203.0.113.${join}`,
                nearMs: startMs + beginsMs + entry.afterMs,
              }))
              .filter(({ nearMs, step }) => stepOf(nearMs, step) === at),
          );
          const near = coming.filter(({ times }) => times === "near");
          server.clock.nowMs = Math.max(server.clock.nowMs, ...near.map(({ nearMs }) => nearMs - AHEAD_MS));
          const { nowMs } = server.clock;
          const timeOf = (times: Times, nearMs: number): number => {
            if (times === "near") return nearMs;
            return times === "2090" ? Date.UTC(2090, 0) : nowMs - DAY_MS - MINUTE_MS;
          };
          const entries = coming.map(
            ({ times, nearMs, form: [name, service], join, hasJoin, value, signs }): Entry => ({
              ...{
                service,
                message: `${signs.join(" ")}.`,
                atMs: timeOf(times, nearMs),
                host: hasJoin ? join : "",
              },
              attrs: [
                ...(hasJoin ? [[name, join] as const] : []),
                ...(value === null ? [] : [["user.name", value] as const]),
              ],
            }),
          );
          const ids = await server.streamAt(stream).store(organizationId, entries);
          for (const [i, { times, nearMs, join, hasJoin, value, signs }] of coming.entries()) {
            if (times === "import" || !hasJoin) continue;
            const atMs = times === "2090" ? nowMs : nearMs;
            came.push({ id: String(ids[i]), atMs, join, value: value ?? "", signs });
          }
          if (ends === "evaluated") {
            await server.seal();
            await Promise.all([0, 1].map(() => server.evaluation().workOnce(NEVER)));
          } else if (ends === "sealed") await server.streamAt(stream).seal();
          else if (ends !== "with nothing") await server.streamAt(stream).die(ends);
        }
        await make(rules.filter(({ madeAt }) => madeAt === STEPS));
        await server.work();
        await server.pass(30 * MINUTE_MS);
        await server.pass(SECOND_MS);
        const byId = new Map(came.map((each) => [each.id, each]));
        const told = Map.groupBy(await server.toldOf(organizationId), ({ key }) => key);
        for (const [rule, { id, sinceMs }] of made) {
          const found = await server.sql<(Found & { isReported: boolean })[]>`
            SELECT group_key AS group, peak, is_reported AS "isReported",
              (extract(epoch FROM started_at) * 1000)::double precision AS "fromMs",
              (extract(epoch FROM ended_at) * 1000)::double precision AS "toMs",
              (extract(epoch FROM until_at) * 1000)::double precision AS "untilMs"
            FROM detections WHERE organization_id = ${organizationId} AND merged_into IS NULL
              AND rule_kind = 'correlation' AND rule_id = ${id}`;
          const wanted = inOrder(episodesOf(rule, came, sinceMs, Number.POSITIVE_INFINITY));
          expect(inOrder(found.map(({ isReported: _, ...each }) => each))).toEqual(wanted);
          expect(found.every(({ isReported }) => isReported)).toBe(true);
          checkTold(rule, id, { wanted, told, byId });
          await checkPreview(rule, { organizationId, startMs, came, byId });
          expect((await server.send(organizationId, "DELETE", `${PATH}/${id}`)).status).toBe(204);
        }
      },
    ),
    { numRuns: HISTORIES, endOnFailure: true },
  ));

/** Of each value in common it is told, and never that it is over; what was shown when it was told is a moment at which it held. */
function checkTold(
  rule: Rule,
  id: number,
  {
    wanted,
    told,
    byId,
  }: {
    readonly wanted: readonly Found[];
    readonly told: ReadonlyMap<string, readonly Told[]>;
    readonly byId: ReadonlyMap<string, Came>;
  },
): void {
  const prefix = `rule:correlation:${id}:`;
  const own = [...told].filter(([key]) => key.startsWith(prefix));
  expect(new Set(own.map(([key]) => key.slice(prefix.length)))).toEqual(
    new Set(wanted.map(({ group }) => group)),
  );
  for (const { kind, payload } of own.flatMap(([, all]) => all)) {
    expect(kind).toBe("raised");
    const entries: readonly Shown[] = Array.isArray(payload.evidence?.entries)
      ? payload.evidence.entries
      : [];
    const shown = entries.map(({ entryId }) => byId.get(entryId)?.atMs ?? Number.NaN);
    // What was over and goes on is told as of its beginning, and shown by what came.
    const shownMs = Math.max(Date.parse(payload.since ?? ""), ...shown);
    checkShown(rule, entries, byId, shownMs);
  }
}

/** A preview from some moment of the history on. */
async function checkPreview(
  rule: Rule,
  {
    organizationId,
    startMs,
    came,
    byId,
  }: {
    readonly organizationId: number;
    readonly startMs: number;
    readonly came: readonly Came[];
    readonly byId: ReadonlyMap<string, Came>;
  },
): Promise<void> {
  const fromMs = startMs + rule.previewsAfterMs;
  const toMs = fromMs + 15 * MINUTE_MS;
  const { body } = await server.send(organizationId, "POST", `${PATH}/preview`, {
    ...termsOf(rule, "rule"),
    ...{ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
  });
  const wanted = inOrder(episodesOf(rule, came, fromMs, toMs + 1));
  expect({ total: body.episodesTotal, truncated: body.truncated }).toEqual({
    ...{ total: wanted.length, truncated: false },
  });
  const found = body.episodes.map(
    (each: { group: Record<string, string>; startedAt: string; endedAt: string; peak: number }) => ({
      ...{ group: JSON.stringify(Object.values(each.group)), peak: each.peak },
      ...{ fromMs: Date.parse(each.startedAt), toMs: Date.parse(each.endedAt) },
      untilMs: Date.parse(each.endedAt) + rule.windowSec * SECOND_MS,
    }),
  );
  expect(inOrder(found)).toEqual(wanted);
  for (const { entries, startedAt } of body.episodes) checkShown(rule, entries, byId, Date.parse(startedAt));
}
