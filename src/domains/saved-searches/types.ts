import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";

export const {
  create: CreateSavedSearchBody,
  update: UpdateSavedSearchBody,
  record: SavedSearch,
} = recordSchemas({
  required: { name: Type.String({ minLength: 1, maxLength: 255 }) },
  optional: {
    description: Type.String({ maxLength: 2000 }),
    query: Type.String({ maxLength: 2048, description: "KQL, checked when it is saved." }),
    q: Type.String({ maxLength: 1024 }),
    service: Type.String({ maxLength: 255 }),
    level: Type.String({ maxLength: 64 }),
    rangeMinutes: Type.Integer({ minimum: 1, maximum: 43_200 }),
  },
});
export type CreateSavedSearchBody = Static<typeof CreateSavedSearchBody>;
export type UpdateSavedSearchBody = Static<typeof UpdateSavedSearchBody>;
