import { afterAll, beforeAll, expect, test } from "bun:test";
import { holdShards, releaseShards } from "../../../../src/domains/monitors/scheduling/shard-store.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";

const FIRST = crypto.randomUUID();
const SECOND = crypto.randomUUID();

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

test("whoever comes later gets no shard of an instance that lives, but what it gives back or lets run out", async () => {
  const { postgres: sql } = stores;
  const first = await holdShards(sql, FIRST, []);
  expect(first.held.length).toBe(first.share);
  const early = await holdShards(sql, SECOND, []);
  expect(early.held).toEqual([]);
  // It keeps its own, with the same epochs, however often it renews them.
  const renewed = await holdShards(sql, FIRST, first.held);
  expect(renewed.held.toSorted((a, b) => a.shard - b.shard)).toEqual(
    first.held.toSorted((a, b) => a.shard - b.shard),
  );
  const [given, other] = renewed.held;
  if (given === undefined || other === undefined) throw new Error("the first instance holds no shards");
  await releaseShards(sql, FIRST, [given]);
  const taken = await holdShards(sql, SECOND, []);
  expect(taken.held).toEqual([{ shard: given.shard, epoch: given.epoch + 1 }]);
  await sql`UPDATE monitor_shards SET leased_until = now() WHERE shard = ${other.shard}`;
  const more = await holdShards(sql, SECOND, taken.held);
  expect(more.held.map(({ shard }) => shard).toSorted((a, b) => a - b)).toEqual(
    [given.shard, other.shard].toSorted((a, b) => a - b),
  );
});
