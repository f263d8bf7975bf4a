import { type Static, Type } from "typebox";
import { KEY_MAX_CHARS } from "./limits.ts";

const closed = { additionalProperties: false };

const EXAMPLE = {
  monitors: {
    "api-eu": {
      name: "API Europe",
      url: "https://api.example.org/health",
      type: "https",
      intervalSec: 60,
      timeoutMs: 5000,
      escalationPolicyId: { ref: "escalation-policies/primary" },
      alertWebhookUrl: { secret: "kept" },
    },
  },
};

const Records = Type.Record(
  Type.String(),
  Type.Record(
    Type.String({ minLength: 1, maxLength: KEY_MAX_CHARS }),
    Type.Record(Type.String(), Type.Unknown()),
  ),
  {
    description:
      "Records by kind and key, with the fields of the body that creates one; docs/configuration-as-code.md says what stands for ids and secrets.",
    examples: [EXAMPLE],
  },
);

const wish = {
  resources: Records,
  adopt: Type.Optional(
    Type.Boolean({
      description: "Takes over records of the same names that no file describes; false by default.",
    }),
  ),
  prune: Type.Optional(
    Type.Boolean({ description: "Deletes what is not described any more; false by default." }),
  ),
};

export const PlanBody = Type.Object(wish, { $id: "PlanConfiguration", ...closed });
export type PlanBody = Static<typeof PlanBody>;
export const ApplyBody = Type.Object(
  {
    ...wish,
    planId: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "Of the plan that was looked at: where it would be another by now, nothing is done.",
      }),
    ),
  },
  { $id: "ApplyConfiguration", ...closed },
);
export type ApplyBody = Static<typeof ApplyBody>;

const FieldChange = Type.Object(
  {
    field: Type.String({ examples: ["intervalSec"] }),
    before: Type.Optional(Type.Unknown({ examples: [60] })),
    after: Type.Optional(Type.Unknown({ examples: [30] })),
    isSecret: Type.Boolean({ description: "Then neither value is shown." }),
    isDrifted: Type.Boolean({ description: "It is not as it was when files were last applied." }),
  },
  { $id: "ConfigurationFieldChange" },
);

const ACTIONS = ["create", "update", "drift", "replace", "delete", "orphan", "unchanged"] as const;

const RecordChange = Type.Object(
  {
    kind: Type.String({ examples: ["monitors"] }),
    key: Type.String({ examples: ["api-eu"] }),
    action: Type.Enum([...ACTIONS], {
      description:
        "`drift`: the files say what they said, the record was changed by other means and is set back. `replace`: deleted and made anew, for a field that never changes. `orphan`: not described any more, and left alone.",
      examples: ["update"],
    }),
    isAdopted: Type.Boolean({ description: "It was there, and no file described it." }),
    movedFrom: Type.Union([Type.String(), Type.Null()], { description: "The key that it had." }),
    fields: Type.Array(FieldChange, { description: "What changes of a record that is there." }),
  },
  { $id: "ConfigurationChange" },
);
export type RecordChange = Static<typeof RecordChange>;

const Count = Type.Integer({ minimum: 0 });
const Summary = Type.Object(
  {
    ...{ create: Count, update: Count, drift: Count, replace: Count, delete: Count, orphan: Count },
    ...{ unchanged: Count, adopt: Count, move: Count },
  },
  { $id: "ConfigurationSummary" },
);
export type Summary = Static<typeof Summary>;

const planned = {
  planId: Type.String({ description: "What `apply` takes, so that it does this and nothing else." }),
  hasChanges: Type.Boolean(),
  summary: Summary,
  changes: Type.Array(RecordChange, {
    description: "In the order in which they are made; not what is unchanged.",
  }),
};

export const ConfigurationPlan = Type.Object(planned, { $id: "ConfigurationPlan" });
export type ConfigurationPlan = Static<typeof ConfigurationPlan>;
export const AppliedConfiguration = Type.Object(
  {
    applyId: Type.String({ description: "Stands in every row of the audit log that this made." }),
    ...planned,
  },
  { $id: "AppliedConfiguration" },
);

const leftOut = Type.Array(Type.String(), { description: "Kinds that the caller may not read." });

export const KindParameters = Type.Object({
  kinds: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 50,
      description:
        "Kinds of records, such as `monitors` and `log-alerts`; may be repeated. Every kind when absent.",
      examples: [["monitors"]],
    }),
  ),
});

export const Configuration = Type.Object({ resources: Records, leftOut }, { $id: "Configuration" });

export const ConfigurationDrift = Type.Object(
  {
    drift: Type.Array(
      Type.Object({
        kind: Type.String({ examples: ["monitors"] }),
        key: Type.String({ examples: ["api-eu"] }),
        change: Type.Enum(["changed", "deleted"]),
        fields: Type.Array(FieldChange),
      }),
    ),
    checked: Type.Integer({ minimum: 0, description: "Records that keys stand for." }),
    leftOut,
  },
  { $id: "ConfigurationDrift" },
);
