/** More entries than a rule looks at together: what is read then, and what is said of it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RangeReading } from "../../../src/archive/reading/range-reading.ts";
import { FairShare } from "../../../src/concurrency/fair-share.ts";
import { MemoryShare } from "../../../src/concurrency/memory-share.ts";
import { ROWS_MAX_READ } from "../../../src/rules/live/limits.ts";
import { HitsReader } from "../../../src/rules/live/read-hits.ts";
import { idAt, insertRows } from "../../domains/logs/stored-rows.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const NEVER = new AbortController().signal;
const SPAN = { fromMs: 1_767_225_600_000, toMs: 1_767_225_600_000 + 600_000 };
const SEQUENCE = { kind: "sequence", joinField: "host", windowMs: 600_000 } as const;
const TOO_MANY = ROWS_MAX_READ + 10;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** An entry each millisecond, of whichever host. */
async function store(organizationId: number, count: number, hostOf: (i: number) => string): Promise<void> {
  const rows = Array.from({ length: count }, (_, i) => ({
    ...{ organizationId, message: "failed", host: hostOf(i), id: idAt(SPAN.fromMs + i) },
    ts: BigInt(SPAN.fromMs + i) * 1_000_000n,
  }));
  await insertRows(stores.clickhouse, rows);
}

function read(organizationId: number, ranges: ConstructorParameters<typeof HitsReader>[0]) {
  const memory = new MemoryShare(new FairShare(64 * 1024 ** 2), [organizationId]);
  const step = {
    query: "failed",
    kql: null,
    service: null,
    level: null,
    groupBy: [],
    clock: "alert",
  } as const;
  const caller = { organizationId, userId: 0, signal: NEVER, memory };
  return new HitsReader(ranges).read(caller, SEQUENCE, [step], SPAN).finally(() => memory.close());
}

/** What reads the same logs, but of which the store has no memory for the statement with that number. */
function withoutMemoryFor(statementNumber: number): ConstructorParameters<typeof HitsReader>[0] {
  const ranges = logRanges(stores);
  let asked = 0;
  const starved = (logs: RangeReading): RangeReading =>
    new Proxy(logs, {
      get: (_, name) => {
        if (name !== "run") return Reflect.get(logs, name, logs);
        return (statement: Parameters<RangeReading["run"]>[0]) => {
          asked++;
          const maxMemoryBytes = asked === statementNumber ? 1 : statement.budget.maxMemoryBytes;
          return logs.run({ ...statement, budget: { ...statement.budget, maxMemoryBytes } });
        };
      },
    });
  return { read: (caller, work) => ranges.read(caller, (logs) => work(starved(logs))) };
}

test("where the store cannot put so many in order, those that came last are looked at, and it is said that some are not", async () => {
  await store(1, TOO_MANY, (i) => (i % 2 === 0 ? "loud" : "louder"));
  const { hits, leftOut } = await read(1, withoutMemoryFor(3));
  expect(hits.list).toHaveLength(ROWS_MAX_READ);
  expect(Math.min(...hits.list.map(({ atMs }) => atMs))).toBe(SPAN.fromMs + TOO_MANY - ROWS_MAX_READ);
  expect(leftOut).toStartWith("More entries belong to it than are looked at together");
  // With the memory it is shared between the two, and said of which it is cut.
  const whole = await read(1, logRanges(stores));
  expect(Map.groupBy(whole.hits.list, ({ join }) => join).get("loud")).toHaveLength(ROWS_MAX_READ / 2);
  expect(whole.leftOut).toStartWith("Only the latest 50000 entries of loud");
  // Whatever else the store says is no reason to look at a part.
  expect(read(1, withoutMemoryFor(1))).rejects.toMatchObject({ code: "QUERY_TOO_EXPENSIVE" });
});

test("where more values have entries than are looked at, those that came last are looked at, and it is said that some are not", async () => {
  await store(2, TOO_MANY, (i) => `host-${i}`);
  const { hits, leftOut } = await read(2, logRanges(stores));
  expect(hits.list).toHaveLength(ROWS_MAX_READ);
  expect(hits.list[0]?.join).toBe(`host-${TOO_MANY - 1}`);
  expect(leftOut).toStartWith("More entries belong to it than are looked at together");
});
