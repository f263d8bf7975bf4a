import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Action, anyAction } from "./model-actions.ts";
import { World } from "./model-world.ts";

/*
 * Goal: whatever a process does and however it ends, acknowledged records are recovered, in order, those of one
 * append together or not at all, nothing appears that was never appended, no position ever means two records, and the keys within retention are known again.
 * Method: random action sequences on the real log over a faulty disk, checked against lists in memory.
 */

/** More than the log takes, which chance alone hardly ever appends before anything is flushed. */
const FILLING: Action[] = Array.from({ length: 12 }, () => ({
  kind: "append",
  sizes: Array.from({ length: 8 }, () => 1500),
  keys: 0,
}));

test("acknowledged is within recovered is within attempted, through every kind of end", async () => {
  const reached = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(anyAction, { minLength: 1, maxLength: 40 }), async (actions) => {
      const world = new World();
      for (const each of actions) await world.run(each);
      await world.finish();
      for (const name of world.reached) reached.add(name);
    }),
    { numRuns: 1500, examples: [[FILLING]] },
  );
  // A test of faults is worth something only if the faults happened.
  for (const name of [
    "a torn end was cut",
    "a torn record was passed over",
    "died during append",
    "died during appendTogether",
    "found together",
    "missing together",
    "died during flush",
    "died during open",
    "WalFullError",
    "WalWriteError",
    "WalFailedError",
  ]) {
    expect(reached).toContain(name);
  }
});
