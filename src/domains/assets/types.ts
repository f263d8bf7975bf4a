import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";

const base = recordSchemas({
  name: "Asset",
  required: {
    ip: Type.String({
      minLength: 1,
      maxLength: 45,
      description: "What an asset is known by: another POST with the same address changes it.",
      examples: ["192.0.2.10"],
    }),
  },
  optional: {
    hostname: Type.String({ minLength: 1, maxLength: 255, examples: ["web-1"] }),
    owner: Type.String({ minLength: 1, maxLength: 255, examples: ["shop"] }),
    criticality: Type.Enum(["low", "medium", "high", "critical"], { examples: ["high"] }),
    notes: Type.String({ minLength: 1, maxLength: 2048, examples: ["Behind the load balancer"] }),
  },
});
const tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 50, examples: [["web"]] });
const closed = { additionalProperties: false };

export const CreateAssetBody = Type.Object(
  { ...base.create.properties, tags: Type.Optional(tags) },
  { $id: "CreateAsset", ...closed },
);
export type CreateAssetBody = Static<typeof CreateAssetBody>;

export const UpdateAssetBody = Type.Object(
  { ...base.update.properties, tags: Type.Optional(tags) },
  { $id: "UpdateAsset", ...closed },
);
export type UpdateAssetBody = Static<typeof UpdateAssetBody>;

export const Asset = Type.Object({ ...base.record.properties, tags }, { $id: "Asset" });
export type Asset = Static<typeof Asset>;
