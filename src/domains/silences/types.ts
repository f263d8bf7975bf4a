import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";
import { recordId, storedTime } from "../../http/stored-values.ts";
import { ProblemSource, RuleEvidence } from "../../problems/events.ts";
import { GROUP_FIELDS_MAX } from "../../rules/counters/limits.ts";

export const {
  create: CreateSilenceBody,
  update: UpdateSilenceBody,
  record: Silence,
} = recordSchemas({
  name: "Silence",
  required: {
    endsAt: storedTime({
      description: "When it is over; what is still wrong then is told then.",
      examples: ["2026-03-08T02:00:00Z"],
    }),
  },
  optional: {
    startsAt: storedTime({
      description: "Now, where it is not given.",
      examples: ["2026-03-07T22:00:00Z"],
    }),
    source: Type.Enum([...ProblemSource.properties.kind.enum], {
      description: "What notices the incidents.",
      examples: ["rule"],
    }),
    ruleKind: Type.Enum([...RuleEvidence.properties.ruleKind.enum], { examples: ["log"] }),
    ruleId: recordId({ description: "Of the rule; needs `ruleKind`.", examples: [5] }),
    monitorId: recordId({ examples: [17] }),
    groupKey: Type.Record(Type.String({ maxLength: 255 }), Type.String({ maxLength: 1024 }), {
      minProperties: 1,
      maxProperties: GROUP_FIELDS_MAX,
      description: "Values of the fields that the rule groups by.",
      examples: [{ host: "web-3" }],
    }),
    reason: Type.String({ minLength: 1, maxLength: 1024, examples: ["The disk is being replaced."] }),
  },
});
export type CreateSilenceBody = Static<typeof CreateSilenceBody>;
export type UpdateSilenceBody = Static<typeof UpdateSilenceBody>;
