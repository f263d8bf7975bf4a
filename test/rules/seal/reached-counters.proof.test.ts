/** A counter that counts anything in a range is never passed over, whatever is counted, whoever counts and whatever others have. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { LOG_ID_STEP } from "../../../ingest/index.ts";
import { aggregate, aggregateCall, type Relation, scan } from "../../../query/index.ts";
import { predicateOf } from "../../../src/rules/counters/counter-plan.ts";
import type { Counter } from "../../../src/rules/counters/counter-store.ts";
import { EntryCounting } from "../../../src/rules/seal/count-entries.ts";
import type { SealedRange } from "../../../src/rules/seal/finder.ts";
import { ReachedCounters } from "../../../src/rules/seal/reached-counters.ts";
import { organizationsIn } from "../../../src/rules/seal/stored-entries.ts";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner, rowsOf } from "../../query/query-store.ts";
import { entry, query } from "../../query/reach/reach-property.ts";
import { FIRST_ID, storeBlock } from "../../query/stored-block.ts";

const NOW_MS = Date.UTC(2026, 0, 2);
const QUERIES = 25;
const NEVER = new AbortController().signal;
let stores: TestStores;
let organizations = 0;
let counters = 0;
let counted = 0;
let passedOver = 0;

beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

function counterOf(organizationId: number, kql: string): Counter {
  return {
    ...{ id: ++counters, organizationId, kql, query: null, service: null, level: null },
    ...{ groupBy: [], clock: "own", bucketSec: 10, pastFromMs: null },
  };
}

/** How many entries each of them takes, one condition beside the other. */
function plainCounts(own: readonly Counter[]): Relation {
  return aggregate(
    scan("logs"),
    [],
    own.map((counter, i) => aggregateCall(`n${i}`, "countif", predicateOf(counter))),
  );
}

/** What every entry of these tests lies in, of whichever organisation. */
async function rangeOf(entries: number): Promise<SealedRange> {
  const span = { instance: 0, after: FIRST_ID - 1n, through: FIRST_ID + BigInt(entries * LOG_ID_STEP) };
  return { span, revision: 0n, organizations: await organizationsIn(stores.clickhouseEndpoint, span, NEVER) };
}

async function tryAll(one: readonly object[], other: readonly object[], queries: readonly string[]) {
  const asked: Counter[] = [];
  for (const entries of [one, other]) {
    const organizationId = ++organizations;
    await storeBlock(stores, organizationId, entries, NOW_MS);
    asked.push(...queries.map((kql) => counterOf(organizationId, kql)));
  }
  const range = await rangeOf(Math.max(one.length, other.length));
  const reached = await new ReachedCounters(stores.clickhouseEndpoint, 0).find(asked, range, NEVER);
  const { counts, failed } = await new EntryCounting(queryRunner(stores)).count(reached, range.span, NEVER);
  expect(failed).toEqual([]);
  for (const organizationId of [organizations - 1, organizations]) {
    const own = asked.filter((counter) => counter.organizationId === organizationId);
    const [plain = []] = await rowsOf(queryRunner(stores), plainCounts(own), organizationId);
    for (const [i, { id, kql }] of own.entries()) {
      const n = counts.reduce((total, count) => total + (count.counter.id === id ? count.n : 0), 0);
      expect({ kql, n }).toEqual({ kql, n: Number(plain[i]) });
    }
  }
  counted += counts.length;
  passedOver += asked.length - reached.length;
}

test("whatever the conditions and the entries", async () => {
  const entries = fc.array(entry, { minLength: 1, maxLength: 6 });
  const queries = fc.array(query, { minLength: QUERIES, maxLength: QUERIES });
  const numRuns = proofRounds({ sample: 20, whole: 500 });
  await fc.assert(fc.asyncProperty(entries, entries, queries, tryAll), { numRuns });
  // There was something to be missed, and something to be spared.
  expect(counted).toBeGreaterThan(numRuns * 5);
  expect(passedOver).toBeGreaterThan(numRuns * 5);
}, 900_000);

test("what means something in a pattern is looked for as it is, and values that are many or long say nothing", async () => {
  const organizationId = ++organizations;
  const odd = ["a.b*c[0]", "(x|y)+?", "100%_\\n", '{"k":"v"}', "tab\there", "^$", "nul-free -- é磁"];
  const entries = [
    ...odd.map((message) => ({ message, attrs: { kind: "odd", text: "y".repeat(300) } })),
    ...Array.from({ length: 400 }, (_, i) => ({ message: "plain", attrs: { request: `r-${i}` } })),
  ];
  await storeBlock(stores, organizationId, entries, NOW_MS);
  const quoted = (text: string): string => JSON.stringify(text);
  const taken = [
    ...odd.filter((text) => text.length > 2).map((text) => `message contains ${quoted(text)}`),
    ...[
      'attrs.request == "r-399"',
      'attrs.text startswith "yyyy"',
      'attrs.kind =~ "ODD"',
      'attrs.kind == "odd"',
    ],
  ];
  const notTaken = [
    ...["aXbYc0", "xxx|", "no such"].map((text) => `message contains ${quoted(text)}`),
    ...['attrs.kind == "even"', 'attrs.none == "odd"', "attrs.none > 5", 'service == "nobody"'],
  ];
  const asked = [...taken, ...notTaken].map((kql) => counterOf(organizationId, kql));
  const range = await rangeOf(entries.length);
  const found = await new ReachedCounters(stores.clickhouseEndpoint, 0).find(asked, range, NEVER);
  expect(found.map(({ counter }) => counter.kql)).toEqual(taken);
});

test("counters whose groups one answer cannot hold are asked apart, and none loses a group", async () => {
  const organizationId = ++organizations;
  const entries = Array.from({ length: 12 }, (_, i) => ({ message: `m${i % 3}`, host: `h${i % 4}` }));
  await storeBlock(stores, organizationId, entries, NOW_MS);
  const asked = [0, 1, 2].map((i) => ({
    counter: { ...counterOf(organizationId, `message == "m${i}"`), groupBy: ["host"] },
    tests: null,
  }));
  const { span } = await rangeOf(entries.length);
  const { counts } = await new EntryCounting(queryRunner(stores), 5).count(asked, span, NEVER);
  expect(counts.map(({ n }) => n)).toEqual(Array.from({ length: 12 }, () => 1));
});

test("of a few every one is asked, and what the store will not say is not needed", async () => {
  const asked = ["message contains 'aaaa'", "message contains 'bbbb'"].map((kql) =>
    counterOf(9_999_999, kql),
  );
  const range = await rangeOf(1);
  expect(await new ReachedCounters(stores.clickhouseEndpoint, 2).find(asked, range, NEVER)).toHaveLength(2);
});
