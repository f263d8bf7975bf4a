import { expect, test } from "bun:test";
import { likelyTime } from "../../../../src/domains/logs/archive/likely-time.ts";

const files = [
  { minTs: 1000n, maxTs: 2000n, rows: 100_000 },
  { minTs: 0n, maxTs: 1500n, rows: 9 },
];

test("the page is looked for where many of them would be, at the end where it begins", () => {
  const all = { from: null, to: null };
  expect(likelyTime(all, files, "newestFirst", 10)).toEqual({ from: 1980n, to: null });
  expect(likelyTime({ from: 5n, to: 1800n }, files, "newestFirst", 10)).toEqual({ from: 1780n, to: 1800n });
  const [first] = files.slice(0, 1);
  expect(first === undefined ? null : likelyTime(all, [first], "oldestFirst", 10)).toEqual({
    from: null,
    to: 1020n,
  });
});

test("it is not where that is no small part of the files or of what is asked", () => {
  const all = { from: null, to: null };
  expect(likelyTime(all, files, "newestFirst", 63)).toBeNull();
  expect(likelyTime({ from: 1990n, to: null }, files, "newestFirst", 10)).toBeNull();
  expect(likelyTime({ from: null, to: 1010n }, files.slice(0, 1), "oldestFirst", 10)).toBeNull();
  expect(likelyTime(all, [{ minTs: 7n, maxTs: 7n, rows: 100_000 }], "newestFirst", 10)).toBeNull();
  expect(likelyTime(all, [], "newestFirst", 10)).toBeNull();
});
