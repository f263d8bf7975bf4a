/**
 * Entries that come in any order, as late as they like, to servers that seal, evaluate at the same time, and die in between:
 * what is recorded in the end is what counting around each single entry says, and all of it was told, once.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { stretchesOf } from "../../rules/evaluation/brute-force.ts";
import { type AlertServer, alertServer, makeOrganization, NEVER, PATH } from "./alert-server.ts";

const HISTORIES = proofRounds({ sample: 10, whole: 1000 });
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const SERVICES = ["pay", "shop"];

type Step =
  /** Entries come, so many milliseconds after the rule was made by their own time. */
  | {
      readonly kind: "store";
      readonly entries: readonly { readonly service: number; readonly afterMs: number }[];
    }
  | { readonly kind: "seal" }
  /** A server seals, and dies before it says what it changed. */
  | { readonly kind: "die" }
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
});
const steps = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant<"store">("store"),
        entries: fc.array(entry, { minLength: 1, maxLength: 8 }),
      }),
    },
    { weight: 4, arbitrary: fc.constant({ kind: "seal" }) },
    { weight: 1, arbitrary: fc.constant({ kind: "die" }) },
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
  server = await alertServer(stores);
});
afterAll(() => stores.close());

/** The seal before the last is as one of a server that died when its counts were stored. */
async function sealAndDie(): Promise<void> {
  const { sql } = server;
  const [before] = await sql<{ id: string; sealed_id: string }[]>`
    SELECT id::text, sealed_id::text FROM ingest_streams WHERE NOT ended ORDER BY id DESC LIMIT 1`;
  const [last] = await sql<{ id: string }[]>`SELECT coalesce(max(id), 0)::text AS id FROM counter_changes`;
  await server.seal();
  await sql`
    UPDATE ingest_streams SET intent_to = sealed_id, sealed_id = ${before?.sealed_id ?? "0"},
      intent_revision = (SELECT revision FROM counter_revisions)
    WHERE id = ${before?.id ?? "0"} AND sealed_id > ${before?.sealed_id ?? "0"}`;
  await sql`DELETE FROM counter_changes WHERE id > ${last?.id ?? "0"}`;
}

test("what is found and told is what the entries say, in whatever order they come", () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        threshold: fc.integer({ min: 1, max: 5 }),
        windowSec: fc.constantFrom(30, 45, 60, 120, 300),
        isGrouped: fc.boolean(),
        steps,
      }),
      async ({ threshold, windowSec, isGrouped, steps: history }) => {
        const organizationId = await makeOrganization(stores);
        const groupBy = isGrouped ? ["service"] : [];
        const rule = { name: "rule", query: "failed", threshold, windowSec, groupBy };
        const made = await server.send(organizationId, "POST", PATH, rule);
        await server.seal();
        const sinceMs = server.clock.nowMs;
        const came: { service: string; atMs: number }[] = [];
        for (const step of history) {
          if (step.kind === "store") {
            const entries = step.entries.map(({ service, afterMs }) => {
              return { service: SERVICES[service] ?? "", atMs: sinceMs + afterMs };
            });
            // Nothing is from further in the future than clocks differ.
            server.clock.nowMs = Math.max(
              server.clock.nowMs,
              ...entries.map(({ atMs }) => atMs - 4 * MINUTE_MS),
            );
            came.push(...entries);
            await server.store(organizationId, ...entries.map((each) => ({ ...each, message: "failed" })));
          } else if (step.kind === "seal") await server.seal();
          else if (step.kind === "die") await sealAndDie();
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
        const told = await server.toldOf(organizationId);
        const byKey = Map.groupBy(told, ({ key }) => key);
        expect(byKey.size).toBe(new Set(wanted.map(({ group }) => group)).size);
        for (const kinds of byKey.values())
          expect(kinds.map(({ kind }) => kind)).toEqual(
            kinds.map((_, i) => (i % 2 === 0 ? "raised" : "cleared")),
          );
        expect(told.filter(({ kind }) => kind === "raised")).toHaveLength(told.length / 2);
        // A preview of the same range is the same code over the entries.
        const { body } = await server.send(organizationId, "POST", `${PATH}/preview`, {
          ...rule,
          ...{ from: new Date(sinceMs).toISOString(), to: new Date(sinceMs + RANGE_MS + 1).toISOString() },
        });
        expect(body.matched).toBe(came.length);
        expect(body.episodesTotal).toBe(wanted.length);
        await server.send(organizationId, "DELETE", `${PATH}/${made.body.id}`);
      },
    ),
    { numRuns: HISTORIES },
  ));
