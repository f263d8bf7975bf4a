import { type Static, Type } from "typebox";
import { LEVEL_NUMBERS } from "../../../ingest/index.ts";

/** Rules of one organisation: each is a comparison for every entry that is looked at. */
export const RETENTION_MAX_RULES = 50;
/** A hundred years. */
const RETENTION_MAX_DAYS = 36_500;

const Days = Type.Integer({
  minimum: 0,
  maximum: RETENTION_MAX_DAYS,
  examples: [30],
  description: "Whole days after the day of receipt; 0 keeps entries in the log store for ever.",
});
const Level = Type.Enum(Object.keys(LEVEL_NUMBERS), { examples: ["debug"] });
const Service = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "The whole name.",
  examples: ["checkout"],
});

const RetentionRuleBody = Type.Object(
  { service: Type.Optional(Service), level: Type.Optional(Level), days: Days },
  { $id: "RetentionRule", additionalProperties: false },
);

export const RetentionBody = Type.Object(
  {
    days: Type.Union([Days, Type.Null()], {
      description: "For entries that no rule fits; null means the server's default.",
    }),
    rules: Type.Optional(
      Type.Array(RetentionRuleBody, {
        maxItems: RETENTION_MAX_RULES,
        description:
          "The first rule counts whose service and level, as far as it names them, are the entry's.",
      }),
    ),
  },
  { $id: "PutRetention", additionalProperties: false },
);
export type RetentionBody = Static<typeof RetentionBody>;

export const RetentionAnswer = Type.Object(
  {
    days: Type.Union([Days, Type.Null()], { description: "Null: the server's default." }),
    defaultDays: Type.Integer({ minimum: 0, description: "The server's default.", examples: [30] }),
    rules: Type.Array(
      Type.Object({
        service: Type.Union([Service, Type.Null()]),
        level: Type.Union([Level, Type.Null()]),
        days: Days,
      }),
    ),
  },
  { $id: "Retention" },
);
export type RetentionAnswer = Static<typeof RetentionAnswer>;

/** How long entries of a service and a level, where they are named, stay in the log store. */
export interface RetentionRule {
  readonly service: string | null;
  readonly level: string | null;
  readonly days: number;
}

/** What an organisation has set; null days mean the server's default. The first rule that fits counts. */
export interface RetentionSettings {
  readonly days: number | null;
  readonly rules: readonly RetentionRule[];
}

export const NO_RETENTION_SETTINGS: RetentionSettings = { days: null, rules: [] };
