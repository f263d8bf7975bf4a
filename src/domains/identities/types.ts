import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";

const base = recordSchemas({
  name: "Identity",
  required: {
    principal: Type.String({
      minLength: 1,
      maxLength: 255,
      description: "What an identity is known by, in any case: another POST with the same changes it.",
      examples: ["sam@example.com"],
    }),
  },
  optional: {
    displayName: Type.String({ minLength: 1, maxLength: 255, examples: ["Sam Example"] }),
    isInternal: Type.Boolean({ examples: [true] }),
    risk: Type.Enum(["low", "medium", "high"], { examples: ["low"] }),
  },
});
const tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 50,
  examples: [["admin"]],
});
const aliases = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
  maxItems: 20,
  description: "Other names by which entries call the same one.",
  examples: [["EXAMPLE\\sam", "sam"]],
});
const defaulted = { tags: Type.Optional(tags), aliases: Type.Optional(aliases) };
const closed = { additionalProperties: false };

export const CreateIdentityBody = Type.Object(
  { ...base.create.properties, ...defaulted },
  { $id: "CreateIdentity", ...closed },
);
export type CreateIdentityBody = Static<typeof CreateIdentityBody>;

export const UpdateIdentityBody = Type.Object(
  { ...base.update.properties, ...defaulted },
  { $id: "UpdateIdentity", ...closed },
);
export type UpdateIdentityBody = Static<typeof UpdateIdentityBody>;

export const Identity = Type.Object({ ...base.record.properties, tags, aliases }, { $id: "Identity" });
export type Identity = Static<typeof Identity>;
