/** Anomalies against their definition, in many more cases than the ordinary run takes. */
import { test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import { judgesAsDefined } from "./anomaly-property.ts";

test("every window is judged as defined", () => {
  fc.assert(judgesAsDefined, { numRuns: proofRounds({ sample: 50, whole: 10_000 }) });
}, 600_000);
