import { expect, test } from "bun:test";
import fc from "fast-check";
import { DueHeap } from "../../../src/probes/schedule/due-heap.ts";

test("due times come out in their order, whatever goes in between", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(50), { nil: null })), (steps) => {
      const heap = new DueHeap();
      const model: number[] = [];
      for (const step of steps) {
        if (step === null) {
          model.sort((a, b) => a - b);
          expect(heap.pop()?.atMs).toBe(model.shift());
        } else {
          heap.push({ atMs: step, monitorId: step, version: 0 });
          model.push(step);
        }
        expect(heap.size).toBe(model.length);
        expect(heap.peek()?.atMs).toBe(model.length === 0 ? undefined : Math.min(...model));
      }
    }),
  );
});
