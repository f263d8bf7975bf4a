/** Thresholds against counting around each single entry, in many more cases than the ordinary run takes. */
import { test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import { countsAsEachEntryDoes, ignoresTheOrderOfArrival } from "./threshold-property.ts";

const numRuns = proofRounds({ sample: 200, whole: 100_000 });

test("the points and the episodes are those of single entries, in every order of arrival", () => {
  fc.assert(countsAsEachEntryDoes, { numRuns });
  fc.assert(ignoresTheOrderOfArrival, { numRuns });
}, 600_000);
