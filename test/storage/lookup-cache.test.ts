import { expect, test } from "bun:test";
import { LookupCache } from "../../src/storage/lookup-cache.ts";

interface Known {
  readonly name: string;
}

/** A cache with a clock of its own, and a store whose questions are answered by hand. */
function openCache() {
  let nowMs = 1_000_000;
  const cache = new LookupCache<Known>({ now: () => nowMs, lifeMs: 1000, max: 3, absentMax: 2 });
  const asked: { key: string; answer: PromiseWithResolvers<Known | null> }[] = [];
  const ask = (key: string): Promise<Known | null> =>
    cache.get(key, () => {
      const answer = Promise.withResolvers<Known | null>();
      asked.push({ key, answer });
      return answer.promise;
    });
  return {
    cache,
    ask,
    asked,
    /** Asks and has it answered at once. */
    learn: async (key: string, value: Known | null): Promise<void> => {
      const answer = ask(key);
      asked.at(-1)?.answer.resolve(value);
      await answer;
    },
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

const ANA: Known = { name: "ana" };

test("a thousand callers at the same moment put one question", async () => {
  const { ask, asked } = openCache();
  const callers = Array.from({ length: 1000 }, () => ask("a"));
  asked[0]?.answer.resolve(ANA);
  expect(new Set(await Promise.all(callers))).toEqual(new Set([ANA]));
  expect(asked).toHaveLength(1);
});

test.each([
  ["known", ANA],
  ["missing", null],
])("a %s thing is remembered for its life, counted from the question", async (_case, value) => {
  const { ask, asked, advance } = openCache();
  const answer = ask("a");
  advance(600);
  asked[0]?.answer.resolve(value);
  await answer;
  advance(399);
  expect(await ask("a")).toBe(value);
  expect(asked).toHaveLength(1);
  advance(1);
  const again = ask("a");
  expect(asked).toHaveLength(2);
  asked[1]?.answer.resolve(value);
  await again;
});

test("a clock that steps back makes answers stale instead of everlasting", async () => {
  const { learn, ask, asked, advance } = openCache();
  await learn("a", ANA);
  advance(-1);
  const again = ask("a");
  expect(asked).toHaveLength(2);
  asked[1]?.answer.resolve(null);
  expect(await again).toBeNull();
});

test("a failing question fails all who wait for it and is put anew by the next one", async () => {
  const { ask, asked } = openCache();
  const outage = new Error("the store is away");
  const waiting = Promise.allSettled([ask("a"), ask("a")]);
  asked[0]?.answer.reject(outage);
  expect((await waiting).map((each) => each.status)).toEqual(["rejected", "rejected"]);
  const next = ask("a");
  asked[1]?.answer.resolve(ANA);
  expect(await next).toBe(ANA);
});

test("what is forgotten while the question is under way is neither remembered nor handed to newcomers", async () => {
  const { cache, ask, asked } = openCache();
  const before = ask("a");
  cache.forget("a");
  const after = ask("a");
  expect(asked).toHaveLength(2);
  asked[0]?.answer.resolve(ANA);
  expect(await before).toBe(ANA);
  expect(cache.peek("a")).toBeUndefined();
  asked[1]?.answer.resolve(null);
  expect(await after).toBeNull();
  expect(cache.peek("a")).toBeNull();
});

test("a question that fails after being forgotten does not disturb the one that follows it", async () => {
  const { cache, ask, asked } = openCache();
  const before = ask("a").catch((error: unknown) => error);
  cache.forget("a");
  const after = ask("a");
  asked[0]?.answer.reject(new Error("late"));
  await before;
  expect(ask("a")).toBe(after);
  asked[1]?.answer.resolve(ANA);
  expect(await after).toBe(ANA);
});

test("forgetting drops answers of both kinds at once", async () => {
  const { cache, learn } = openCache();
  await learn("a", ANA);
  await learn("b", null);
  cache.forget("a");
  cache.forget("b");
  expect([cache.peek("a"), cache.peek("b"), cache.size]).toEqual([undefined, undefined, 0]);
});

test("the number of answers is bounded, and a flood of keys that stand for nothing evicts none that does", async () => {
  const { cache, learn } = openCache();
  for (const name of ["a", "b", "c"]) await learn(name, { name });
  for (let n = 0; n < 100; n += 1) await learn(`invented-${n}`, null);
  expect(cache.size).toBe(5);
  expect(["a", "b", "c"].map((name) => cache.peek(name)?.name)).toEqual(["a", "b", "c"]);
  await learn("d", { name: "d" });
  expect([cache.peek("a"), cache.peek("d")?.name, cache.size]).toEqual([undefined, "d", 5]);
});
