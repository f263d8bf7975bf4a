import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  ALL_TIME,
  columnOf,
  emit,
  extend,
  guardPlan,
  INTERACTIVE_BUDGET,
  keep,
  scan,
  timeBucket,
} from "../../../query/index.ts";
import { queryCaller } from "../../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";

const SECOND = 1_000_000_000n;
/** The first and the last time that an entry can have, what lies around 1970, and one of these days. */
const TIMES = [
  -2_208_988_800n * SECOND,
  ...[-86_401n, -86_400n, -1n, 0n, 1n, 59n, 60n, 86_400n].map((seconds) => seconds * SECOND),
  ...[-1n, 1n, 999_999n],
  1_795_000_000_123_456_789n,
  9_223_286_399_999_999_999n,
];
const WIDTHS = [1n, 1_000_000n, SECOND, 7n * SECOND, 60n * SECOND, 86_400n * SECOND, 366n * 86_400n * SECOND];

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
  await stores.clickhouse.command({
    query: `INSERT INTO logs (organization_id, ts, id)
      SELECT 1, fromUnixTimestamp64Nano(toInt64(arrayJoin([${TIMES.map((time) => `'${time}'`).join()}])), 'UTC'), 1`,
  });
});
afterAll(() => stores.close());

test.each([42n, ...TIMES.slice(0, -1)])("every time is in its bucket, counted from %p", async (startNs) => {
  for (const widthNs of WIDTHS) {
    const logs = scan("logs");
    const numbered = extend(logs, [
      { name: "bucket", expression: timeBucket(columnOf(logs, "ts"), startNs, widthNs) },
    ]);
    const scope = { organizationId: 1, timeRange: ALL_TIME, maxRows: 100, budget: INTERACTIVE_BUDGET };
    const compiled = emit(guardPlan(keep(numbered, ["ts", "bucket"]), scope));
    const { rows } = await queryRunner(stores).run("test", compiled, queryCaller());
    const found = new Map(rows.map(([time, bucket]) => [BigInt(String(time)), BigInt(String(bucket))]));
    expect(found.size).toBe(TIMES.length);
    // A distance of more than 64 bits is none that is asked for.
    for (const time of TIMES.filter((time) => BigInt.asIntN(64, time - startNs) === time - startNs))
      expect([time, found.get(time)]).toEqual([time, floorDivide(time - startNs, widthNs)]);
  }
});

function floorDivide(value: bigint, divisor: bigint): bigint {
  const remainder = value % divisor;
  return (value - (remainder < 0n ? remainder + divisor : remainder)) / divisor;
}
