import { expect, test } from "bun:test";
import { LOOK_EVERY_MS, RestingPages } from "../../src/storage/embedded/resting-pages.ts";

/** A process of which each look finds the CPU time that the test says. */
function process() {
  let nowMs = 0;
  let cpuMs = 0;
  let unmapped = 0;
  const pages = new RestingPages({
    monotonicMs: () => nowMs,
    cpuMs: () => cpuMs,
    unmap: () => {
      unmapped += 1;
    },
  });
  /** Looks again after a while of `share` of a core; how often pages were unmapped. */
  return (share: number): number => {
    nowMs += LOOK_EVERY_MS;
    cpuMs += share * LOOK_EVERY_MS;
    pages.look();
    return unmapped;
  };
}

test("pages stay while the process works, and go once when it rests", () => {
  const look = process();
  for (let i = 0; i < 5; i += 1) expect(look(0.8)).toBe(0);
  expect(look(0.02)).toBe(1);
  for (let i = 0; i < 20; i += 1) expect(look(0.001)).toBe(1);
});

test("what little work leaves behind goes when there was enough of it", () => {
  const look = process();
  look(0.8);
  expect(look(0.02)).toBe(1);
  expect([look(0.02), look(0.02), look(0.02)]).toEqual([1, 1, 2]);
});
