/** States against going from moment to moment, in many more cases than the ordinary run takes. */
import { test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import {
  isTheSameInEveryOrder,
  isWhatHappenedFromMomentToMoment,
  tellsEachEpisodeOnce,
} from "./states-property.ts";

const numRuns = proofRounds({ sample: 200, whole: 100_000 });

test("nothing is missed and nothing told twice, in every order in which episodes become known", () => {
  fc.assert(isWhatHappenedFromMomentToMoment, { numRuns });
  fc.assert(tellsEachEpisodeOnce, { numRuns });
  fc.assert(isTheSameInEveryOrder, { numRuns });
}, 600_000);
