/** How far a stream is sealed is read as it was written, to the last digit: a number that is a little off seals twice or never. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { insertSignals, type SignalTable, sealedThrough } from "../../src/rules/seal/signal-store.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const NEVER = new AbortController().signal;

let stores: TestStores;
let signals: SignalTable;
beforeAll(async () => {
  stores = await openTestStores();
  signals = { endpoint: stores.clickhouseEndpoint, settle: async () => undefined };
});
afterAll(() => stores.close());

test("the mark of a stream is exact, and null of one that has none", async () => {
  expect(await sealedThrough(signals, 1, NEVER)).toBeNull();
  let stream = 1;
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }), async (lastId) => {
      stream += 1;
      const seal = { organizationId: 0, kind: "seal", key: stream, bucketMs: 0, n: 0, lastId } as const;
      await insertSignals(signals, [seal], crypto.randomUUID(), "2026-01-01", NEVER);
      expect(await sealedThrough(signals, stream, NEVER)).toBe(lastId);
    }),
    { numRuns: 20, examples: [[912_760_913_264_641_024n]] },
  );
});
