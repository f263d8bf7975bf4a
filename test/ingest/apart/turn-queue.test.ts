import { expect, test } from "bun:test";
import { TurnQueue } from "../../../ingest/apart/turn-queue.ts";

test("organisations take turns, each in its own order", () => {
  const queue = new TurnQueue<string>({ maxBytes: 100, maxBytesOfOne: 100 });
  for (const item of ["a1", "a2", "a3"]) queue.add(1, item, 1);
  for (const item of ["b1", "b2"]) queue.add(2, item, 1);
  queue.add(3, "c1", 1);
  const taken = Array.from({ length: 7 }, () => queue.take());
  expect(taken).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", undefined]);
});

test("one organisation does not fill it, all together do, and what is taken makes room", () => {
  const queue = new TurnQueue<string>({ maxBytes: 10, maxBytesOfOne: 6 });
  expect(queue.add(1, "a", 6)).toBe(true);
  expect(queue.add(1, "a", 1)).toBe(false);
  expect(queue.add(2, "b", 4)).toBe(true);
  expect(queue.add(3, "c", 1)).toBe(false);
  queue.take();
  expect(queue.add(3, "c", 6)).toBe(true);
});

test("what is larger than the bounds is taken where nothing waits", () => {
  const queue = new TurnQueue<string>({ maxBytes: 10, maxBytesOfOne: 6 });
  expect(queue.add(1, "a", 50)).toBe(true);
  expect(queue.add(2, "b", 1)).toBe(false);
});
