import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";

export const {
  create: CreateSavedSearchBody,
  update: UpdateSavedSearchBody,
  record: SavedSearch,
} = recordSchemas({
  name: "SavedSearch",
  required: { name: Type.String({ minLength: 1, maxLength: 255, examples: ["Errors of checkout"] }) },
  optional: {
    description: Type.String({ maxLength: 2000, examples: ["What fails in the shop"] }),
    query: Type.String({
      maxLength: 2048,
      description: "KQL, checked when it is saved.",
      examples: ["status >= 500"],
    }),
    q: Type.String({ maxLength: 1024, description: "As in a search.", examples: ["payment failed"] }),
    service: Type.String({ maxLength: 255, examples: ["checkout"] }),
    level: Type.String({ maxLength: 64, examples: ["error"] }),
    rangeMinutes: Type.Integer({ minimum: 1, maximum: 43_200, examples: [60] }),
  },
});
export type CreateSavedSearchBody = Static<typeof CreateSavedSearchBody>;
export type UpdateSavedSearchBody = Static<typeof UpdateSavedSearchBody>;
