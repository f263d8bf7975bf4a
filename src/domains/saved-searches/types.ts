import { type Static, Type } from "typebox";

const Name = Type.String({ minLength: 1, maxLength: 255 });
const FIELDS = {
  description: Type.String({ maxLength: 2000 }),
  query: Type.String({ maxLength: 2048, description: "KQL, checked when it is saved." }),
  q: Type.String({ maxLength: 1024 }),
  service: Type.String({ maxLength: 255 }),
  level: Type.String({ maxLength: 64 }),
  rangeMinutes: Type.Integer({ minimum: 1, maximum: 43_200 }),
};

export const CreateSavedSearchBody = Type.Object(
  {
    name: Name,
    description: Type.Optional(FIELDS.description),
    query: Type.Optional(FIELDS.query),
    q: Type.Optional(FIELDS.q),
    service: Type.Optional(FIELDS.service),
    level: Type.Optional(FIELDS.level),
    rangeMinutes: Type.Optional(FIELDS.rangeMinutes),
  },
  { additionalProperties: false },
);
export type CreateSavedSearchBody = Static<typeof CreateSavedSearchBody>;

const NULLABLE = {
  description: Type.Union([FIELDS.description, Type.Null()]),
  query: Type.Union([FIELDS.query, Type.Null()]),
  q: Type.Union([FIELDS.q, Type.Null()]),
  service: Type.Union([FIELDS.service, Type.Null()]),
  level: Type.Union([FIELDS.level, Type.Null()]),
  rangeMinutes: Type.Union([FIELDS.rangeMinutes, Type.Null()]),
};

/** Null takes a field away; a field that is absent stays as it is. */
export const UpdateSavedSearchBody = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(NULLABLE.description),
    query: Type.Optional(NULLABLE.query),
    q: Type.Optional(NULLABLE.q),
    service: Type.Optional(NULLABLE.service),
    level: Type.Optional(NULLABLE.level),
    rangeMinutes: Type.Optional(NULLABLE.rangeMinutes),
  },
  { additionalProperties: false },
);
export type UpdateSavedSearchBody = Static<typeof UpdateSavedSearchBody>;

export const SavedSearch = Type.Object({
  id: Type.Integer(),
  name: Name,
  ...NULLABLE,
  createdAt: Type.String({ format: "date-time" }),
  updatedAt: Type.String({ format: "date-time" }),
});
export type SavedSearch = Static<typeof SavedSearch>;

/** The fields that a client may set. */
export type SavedSearchFields = Omit<SavedSearch, "id" | "createdAt" | "updatedAt">;
