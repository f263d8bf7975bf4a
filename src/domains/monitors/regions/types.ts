import { type Static, Type } from "typebox";
import { recordId } from "../../../http/stored-values.ts";
import { CHECK_ERRORS } from "../../../probes/check.ts";
import { STEPS_MAX } from "../limits.ts";
import { PROBE_RESULTS_MAX } from "./limits.ts";

const Milliseconds = Type.Number({ minimum: 0, maximum: 3_600_000 });
const Moment = Type.Integer({
  minimum: 0,
  maximum: 8_000_000_000_000,
  description: "Milliseconds since 1970.",
});

const Outcome = Type.Object(
  {
    status: Type.Enum(["up", "degraded", "down", "unknown"]),
    error: Type.Union([Type.Enum([...CHECK_ERRORS]), Type.Null()]),
    durationMs: Milliseconds,
    phases: Type.Object(
      { dnsMs: Milliseconds, connectMs: Milliseconds, tlsMs: Milliseconds, firstByteMs: Milliseconds },
      { additionalProperties: false },
    ),
    statusCode: Type.Union([Type.Integer({ minimum: 0, maximum: 999 }), Type.Null()]),
    certificateNotAfter: Type.Union([Type.Number(), Type.Null()]),
    failedStep: Type.Union([Type.Integer({ minimum: 0, maximum: STEPS_MAX - 1 }), Type.Null()]),
  },
  { additionalProperties: false },
);

/** What a probe found in a slot, as it is stored until its round is written. */
export const ProbeFinding = Type.Object(
  { startedAtMs: Moment, lateMs: Type.Number({ minimum: 0 }), outcome: Outcome },
  { additionalProperties: false },
);
export type ProbeFinding = Static<typeof ProbeFinding>;

const ProbeResult = Type.Object(
  {
    monitorId: recordId({ examples: [17] }),
    slotMs: Moment,
    ...ProbeFinding.properties,
  },
  { additionalProperties: false },
);
export type ProbeResult = Static<typeof ProbeResult>;

export const ProbeResultsBody = Type.Object(
  { results: Type.Array(ProbeResult, { maxItems: PROBE_RESULTS_MAX }) },
  { $id: "ProbeResults", additionalProperties: false },
);

export const ProbeResultsAnswer = Type.Object(
  {
    taken: Type.Integer({
      description: "New ones; the others are known already, too old, or of no monitor.",
    }),
  },
  { $id: "ProbeResultsTaken" },
);
