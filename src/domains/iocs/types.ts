import { type Static, Type } from "typebox";
import { INDICATOR_TYPES } from "../../entities/indicators/indicator-value.ts";
import { PageParameters } from "../../http/record-page.ts";
import { recordSchemas } from "../../http/record-schemas.ts";
import { storedTime } from "../../http/stored-values.ts";
import { SEVERITIES } from "../../problems/events.ts";

const closed = { additionalProperties: false };
const type = Type.Enum([...INDICATOR_TYPES], { examples: ["domain"] });
const value = Type.String({
  minLength: 1,
  maxLength: 512,
  description:
    "An address or a range in CIDR notation, a domain, or a hash in hex digits; defanged forms such as `evil[.]example` are read.",
  examples: ["evil.example"],
});
const identity = recordSchemas({
  name: "Ioc",
  required: { type, value },
  optional: {
    severity: Type.Enum([...SEVERITIES], {
      description: "Of its incidents, `medium` without one.",
      examples: ["high"],
    }),
    description: Type.String({
      minLength: 1,
      maxLength: 2048,
      examples: ["Command and control of a botnet"],
    }),
    expiresAt: storedTime({
      description: "From then on it is looked for no more; it may lie in the past.",
      examples: ["2027-01-01T00:00:00Z"],
    }),
    confidence: Type.Integer({ minimum: 0, maximum: 100, examples: [80] }),
    source: Type.String({ minLength: 1, maxLength: 255, description: "Who says so.", examples: ["CERT"] }),
  },
});
const { type: _, value: __, ...changeable } = identity.update.properties;

export const CreateIocBody = identity.create;
export type CreateIocBody = Static<typeof CreateIocBody>;

export const PutIocBody = Type.Object(
  {
    ...identity.create.properties,
    force: Type.Optional(
      Type.Boolean({
        description:
          "Takes what is about too much to say anything: private networks, domains under which anybody registers names, the organisation's own.",
      }),
    ),
  },
  { $id: "PutIoc", ...closed },
);
export type PutIocBody = Static<typeof PutIocBody>;

/** What it is cannot be changed: another value is another indicator. */
export const UpdateIocBody = Type.Object(changeable, { $id: "UpdateIoc", ...closed });
export type UpdateIocBody = Static<typeof UpdateIocBody>;

const Moment = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

export const Ioc = Type.Object(
  {
    ...identity.record.properties,
    hits: Type.Integer({ description: "Entries that hold it.", examples: [3] }),
    firstHitAt: Moment,
    lastHitAt: Moment,
    feedId: Type.Union([Type.Integer(), Type.Null()], {
      description: "The feed that brought it first; null by hand.",
    }),
    byPerson: Type.Boolean({
      description:
        "Whether a person made, imported, changed or posted it: then no feed changes it or lets it expire. Any other expires when no feed lists it any more.",
    }),
  },
  { $id: "Ioc" },
);
export type Ioc = Static<typeof Ioc>;

export const IocPageParameters = Type.Object({
  ...PageParameters.properties,
  type: Type.Optional(type),
  value: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: "The one of that value." })),
  status: Type.Optional(Type.Enum(["active", "expired"])),
});

const allowed = recordSchemas({
  name: "AllowedIndicator",
  required: { type, value },
  optional: { note: Type.String({ minLength: 1, maxLength: 255, examples: ["Our resolvers"] }) },
});
export const CreateAllowedBody = allowed.create;
export type CreateAllowedBody = Static<typeof CreateAllowedBody>;
export const UpdateAllowedBody = allowed.update;
export type UpdateAllowedBody = Static<typeof UpdateAllowedBody>;
export const AllowedIndicator = allowed.record;

export const FeedStats = Type.Object(
  {
    total: Type.Integer(),
    active: Type.Integer(),
    expired: Type.Integer(),
    byType: Type.Object({ ip: Type.Integer(), domain: Type.Integer(), hash: Type.Integer() }),
    hits24h: Type.Integer({ description: "Entries found in the last 24 hours, to the hour." }),
    feeds: Type.Array(
      Type.Object({
        id: Type.Integer(),
        name: Type.String(),
        lastFetchAt: Moment,
        status: Type.Enum(["new", "ok", "unchanged", "failed"]),
        added: Type.Integer(),
        updated: Type.Integer(),
        expired: Type.Integer(),
        rejected: Type.Integer(),
        hitRatio: Type.Number({
          description: "Of the indicators that it lists or has listed, those that were found; 0 to 1.",
        }),
      }),
    ),
  },
  { $id: "IocFeedStats" },
);
