/** Which groups are told apart where there are more than may be. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fewerGroups } from "../../../src/rules/counters/groups.ts";
import { GROUPS_MAX_OF_SEAL } from "../../../src/rules/counters/limits.ts";

const OTHER_GROUPS = '["(other)"]';

test("the same groups stay in whatever order counts come: those with most entries, of equals the first by name", () => {
  const counts = Array.from({ length: GROUPS_MAX_OF_SEAL + 100 }, (_, i) => ({
    group: `host-${String(i).padStart(4, "0")}`,
    n: i >= GROUPS_MAX_OF_SEAL + 90 ? 2 : 1,
  }));
  const kept = [...counts.slice(0, GROUPS_MAX_OF_SEAL - 10), ...counts.slice(-10)].map(({ group }) => group);
  fc.assert(
    fc.property(fc.nat(counts.length - 1), fc.boolean(), (from, isReversed) => {
      const turned = [...counts.slice(from), ...counts.slice(0, from)];
      const fewer = fewerGroups(isReversed ? turned.toReversed() : turned);
      expect(new Set(fewer.map(({ group }) => group))).toEqual(new Set([...kept, OTHER_GROUPS]));
      const others = fewer.filter(({ group }) => group === OTHER_GROUPS);
      expect(others).toHaveLength(100);
      expect(new Set(others.map(({ groups }) => groups))).toEqual(new Set([counts.length]));
    }),
    { numRuns: 25 },
  );
});
