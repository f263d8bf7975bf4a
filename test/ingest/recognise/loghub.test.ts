import { describe, expect, test } from "bun:test";
import { hasLoghub, SYSTEMS } from "../../../bench/patterns/loghub.ts";
import { scoreOf } from "../../../bench/recognise/labelled.ts";

/** Shares of the lines of each system that have what people say they have. */
const MIN_SHARE = 0.98;

describe("lines of real systems", () => {
  test.skipIf(!hasLoghub()).each(SYSTEMS)(
    "%s: time, level and service are those that people found",
    (system) => {
      const { lines, time, level, service } = scoreOf(system);
      expect(lines).toBeGreaterThan(1900);
      for (const right of [time, level, service]) expect(right / lines).toBeGreaterThanOrEqual(MIN_SHARE);
    },
  );
});
