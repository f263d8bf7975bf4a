import { type Static, Type } from "typebox";
import { IMPORT_MAX_BYTES } from "../../rules/sigma/limits.ts";

const RULE = `title: A shell as root
id: 0f7a4c1e-52b3-4f0e-9d61-6a8c2f4b7e10
logsource: { product: linux, service: auditd }
detection:
  shell: { type: EXECVE, a0|endswith: /sh, uid: 0 }
  condition: shell
level: high`;

export const ImportBody = Type.Object(
  {
    yaml: Type.String({
      minLength: 1,
      maxLength: IMPORT_MAX_BYTES,
      description: "Sigma rules and correlations, one document each, at most 500.",
      examples: [RULE],
    }),
    dryRun: Type.Optional(
      Type.Boolean({ description: "Whether it is only said what would become of them; false by default." }),
    ),
    enable: Type.Optional(
      Type.Boolean({ description: "Whether rules that are made are evaluated; true by default." }),
    ),
  },
  { $id: "ImportSigma", additionalProperties: false },
);

const ImportResult = Type.Object(
  {
    title: Type.String({ description: "Of the document; empty where it has none." }),
    ruleKind: Type.Optional(
      Type.Enum(["log", "correlation"], {
        description: "Whether `ruleId` is of a log alert or a correlation rule.",
      }),
    ),
    ruleId: Type.Optional(Type.Integer()),
    updated: Type.Optional(
      Type.Boolean({ description: "Whether there was a rule of that Sigma id before." }),
    ),
    note: Type.Optional(Type.String()),
    kql: Type.Optional(Type.String({ description: "Of a dry run: what would be asked." })),
    rule: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "Of a dry run: what would be made, as the body that makes such a rule.",
      }),
    ),
    fields: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String(),
          seen: Type.Union([Type.Boolean(), Type.Null()], {
            description:
              "Whether an entry of the last seven days has it; null where the log store does not say.",
          }),
        }),
        { description: "What the rule looks at." },
      ),
    ),
    error: Type.Optional(Type.String({ description: "Why no rule was made, and where." })),
    line: Type.Optional(Type.Integer({ description: "Of the whole text, from 1." })),
    column: Type.Optional(Type.Integer()),
  },
  { $id: "SigmaImportResult" },
);
export type ImportResult = Static<typeof ImportResult>;

export const Imported = Type.Object(
  { results: Type.Array(ImportResult, { description: "In the order of the documents." }) },
  { $id: "SigmaImport" },
);
