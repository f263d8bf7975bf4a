/** Which groups are known, so that it can be told when nothing comes of them any more. */
import { expect, test } from "bun:test";
import { newestEntries } from "../../src/rules/live/find-missing.ts";
import { SILENT_GROUPS_MAX } from "../../src/rules/live/limits.ts";

test("of more groups than can be kept those that are known stay, and it is said that others are left out", async () => {
  const names = Array.from({ length: SILENT_GROUPS_MAX + 1 }, (_, i) => `[${i}]`);
  const source = {
    sums: async () => ({
      groups: new Map(names.map((name, i) => [name, [{ startMs: 0, n: 1, firstMs: 1, lastMs: i }]])),
      groupsAtOnce: 0,
      isCut: false,
      sealed: new Map(),
    }),
  };
  const spans = [{ fromMs: 0, toMs: 10_000 }];
  const first = await newestEntries(spans, new Set(), source);
  expect([first.newest.size, first.isCut]).toEqual([SILENT_GROUPS_MAX, true]);
  // A full house: what is known goes on, and nothing new comes in, however often other groups come.
  const known = new Set(names.slice(-SILENT_GROUPS_MAX));
  const next = await newestEntries(spans, known, source);
  expect(new Set(next.newest.keys())).toEqual(known);
  expect([next.newest.get(names.at(-1) ?? ""), next.isCut]).toEqual([SILENT_GROUPS_MAX, true]);
});
