import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";
import { recordId } from "../../http/stored-values.ts";

const closed = { additionalProperties: false };
const DELAY_MAX_SEC = 604_800;
const Id = recordId();
const delaySec = Type.Integer({
  minimum: 0,
  maximum: DELAY_MAX_SEC,
  description: "Counts from when the step before was taken; of the first from when the incident opened.",
  examples: [300],
});

export const PolicyStep = Type.Union(
  [
    Type.Object(
      { type: Type.Literal("schedule"), delaySec, scheduleId: Id },
      { $id: "ScheduleStep", ...closed },
    ),
    Type.Object({ type: Type.Literal("user"), delaySec, userId: Id }, { $id: "UserStep", ...closed }),
  ],
  { examples: [{ type: "schedule", delaySec: 0, scheduleId: 3 }] },
);
export type PolicyStep = Static<typeof PolicyStep>;

const base = recordSchemas({
  name: "EscalationPolicy",
  required: {
    name: Type.String({ minLength: 1, maxLength: 255, examples: ["Shop by night"] }),
    steps: Type.Array(PolicyStep, {
      minItems: 1,
      maxItems: 10,
      description: "Whom to reach, one after the other, until somebody answers.",
      examples: [
        [
          { type: "schedule", delaySec: 0, scheduleId: 3 },
          { type: "user", delaySec: 600, userId: 12 },
        ],
      ],
    }),
  },
  optional: { description: Type.String({ maxLength: 2000, examples: ["First line, then the head of it"] }) },
});
const repeat = Type.Integer({
  minimum: 0,
  maximum: 10,
  description: "How often all steps are taken again when nobody answers; 0 by default.",
  examples: [2],
});

export const CreatePolicyBody = Type.Object(
  { ...base.create.properties, repeat: Type.Optional(repeat) },
  { $id: "CreateEscalationPolicy", ...closed },
);
export type CreatePolicyBody = Static<typeof CreatePolicyBody>;
export const UpdatePolicyBody = Type.Object(
  { ...base.update.properties, repeat: Type.Optional(repeat) },
  { $id: "UpdateEscalationPolicy", ...closed, examples: [{ repeat: 2 }] },
);
export type UpdatePolicyBody = Static<typeof UpdatePolicyBody>;
export const EscalationPolicy = Type.Object(
  { ...base.record.properties, repeat },
  { $id: "EscalationPolicy" },
);
export type EscalationPolicy = Static<typeof EscalationPolicy>;
