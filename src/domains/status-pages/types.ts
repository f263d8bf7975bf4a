import { type Static, type TSchema, Type } from "typebox";
import { recordId } from "../../http/stored-values.ts";

/** Components of one page: each is ninety bars, and the page is to stay small. */
const MONITORS_MAX = 100;
const GROUPS_MAX = 30;

/** Also what a label of a host name is, so that it can be one. */
const SLUG = "^[a-z0-9][a-z0-9-]{1,62}$";
const DOMAIN = "^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$";

const MonitorId = recordId();
const MonitorIds = Type.Array(MonitorId, { maxItems: MONITORS_MAX, uniqueItems: true });
const PublicText = (maxLength: number) => Type.String({ minLength: 1, maxLength });

const Theme = Type.Object(
  {
    accent: Type.Optional(
      Type.String({
        pattern: "^#[0-9a-fA-F]{6}$",
        description: "The colour of links and lines, made darker or lighter until it can be read.",
        examples: ["#1f4fd8"],
      }),
    ),
    days: Type.Optional(Type.Union([Type.Literal(30), Type.Literal(90)])),
    showPercentages: Type.Optional(Type.Boolean()),
    timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 64, examples: ["Europe/Berlin"] })),
  },
  { $id: "StatusPageTheme", additionalProperties: false },
);

const Group = Type.Object(
  { name: PublicText(100), monitorIds: MonitorIds },
  { $id: "StatusPageGroup", additionalProperties: false },
);
const PublicName = Type.Object(
  { monitorId: MonitorId, name: PublicText(100) },
  { $id: "StatusPagePublicName", additionalProperties: false },
);

const required = {
  name: Type.String({ minLength: 1, maxLength: 255, examples: ["Acme"] }),
  slug: Type.String({ pattern: SLUG, examples: ["acme"] }),
};
/** What is never null. */
const lists = {
  monitorIds: Type.Array(MonitorId, {
    maxItems: MONITORS_MAX,
    uniqueItems: true,
    description: "What is shown, in this order; nothing by default.",
    examples: [[17]],
  }),
  groups: Type.Array(Group, { maxItems: GROUPS_MAX }),
  publicNames: Type.Array(PublicName, {
    maxItems: MONITORS_MAX,
    description: "What monitors are called here, where that is not their name.",
  }),
  isPublic: Type.Boolean({ description: "A page that is not answers 404 to everyone." }),
};
const clearable = {
  description: PublicText(2000),
  customDomain: Type.String({
    pattern: DOMAIN,
    description: "A host on which the page alone answers, once it is proven whose it is.",
    examples: ["status.example.com"],
  }),
  theme: Theme,
};

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const CreatePageBody = Type.Object(
  {
    ...required,
    monitorIds: optional(lists.monitorIds),
    groups: optional(lists.groups),
    publicNames: optional(lists.publicNames),
    isPublic: optional(lists.isPublic),
    description: optional(clearable.description),
    customDomain: optional(clearable.customDomain),
    theme: optional(clearable.theme),
  },
  { $id: "CreateStatusPage", additionalProperties: false },
);
export type CreatePageBody = Static<typeof CreatePageBody>;

export const UpdatePageBody = Type.Object(
  {
    name: optional(required.name),
    slug: optional(required.slug),
    monitorIds: optional(lists.monitorIds),
    groups: optional(lists.groups),
    publicNames: optional(lists.publicNames),
    isPublic: optional(lists.isPublic),
    description: optional(nullable(clearable.description)),
    customDomain: optional(nullable(clearable.customDomain)),
    theme: optional(nullable(clearable.theme)),
  },
  { $id: "UpdateStatusPage", additionalProperties: false },
);
export type UpdatePageBody = Static<typeof UpdatePageBody>;

export const StatusPage = Type.Object(
  {
    id: Type.Integer({ examples: [17] }),
    ...required,
    ...lists,
    description: nullable(clearable.description),
    customDomain: nullable(clearable.customDomain),
    customDomainProvenAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
      description: "Since when the page answers there; `GET /status-pages/{id}/host` says what it takes.",
    }),
    theme: nullable(clearable.theme),
    hasPassword: Type.Boolean(),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { $id: "StatusPage" },
);
export type StatusPage = Static<typeof StatusPage>;

/** What a password may be; it is checked as it was typed. */
export const PagePassword = Type.String({
  minLength: 8,
  maxLength: 200,
  examples: ["only for customers"],
});

/** What can be said of a component, a group or the page; the worst of several comes first. */
export const STATES = ["down", "degraded", "maintenance", "unknown", "operational"] as const;
export type State = (typeof STATES)[number];
const State = Type.Union([
  Type.Literal("down"),
  Type.Literal("degraded"),
  Type.Literal("maintenance"),
  Type.Literal("unknown"),
  Type.Literal("operational"),
]);

const Time = Type.String({ format: "date-time" });
const Percent = nullable(Type.Number());
const Day = Type.Object({
  date: Type.String(),
  state: Type.Union([
    Type.Literal("down"),
    Type.Literal("degraded"),
    Type.Literal("operational"),
    Type.Literal("unknown"),
  ]),
  uptimePercent: Percent,
});
const Component = Type.Object({
  monitorId: Type.Integer(),
  name: Type.String(),
  state: State,
  uptimePercent: Percent,
  days: Type.Array(Day),
});
export type Component = Static<typeof Component>;

/** The page as everyone may know it: what the page, the feed and mails are made of. */
export const PublicPage = Type.Object(
  {
    name: Type.String(),
    slug: Type.String(),
    description: nullable(Type.String()),
    theme: nullable(Theme),
    state: State,
    updatedAt: Time,
    /** Whether what is shown may be older than it should be, for the database is away. */
    isStale: Type.Boolean(),
    groups: Type.Array(
      Type.Object({ name: nullable(Type.String()), state: State, components: Type.Array(Component) }),
    ),
    maintenance: Type.Array(
      Type.Object({
        title: nullable(Type.String()),
        startsAt: Time,
        endsAt: Time,
        isRunning: Type.Boolean(),
        components: Type.Array(Type.String()),
      }),
    ),
    incidents: Type.Array(
      Type.Object({
        id: Type.Integer(),
        title: Type.String(),
        status: Type.String(),
        openedAt: Time,
        resolvedAt: nullable(Time),
        components: Type.Array(Type.String()),
        updates: Type.Array(Type.Object({ at: Time, status: nullable(Type.String()), body: Type.String() })),
      }),
    ),
  },
  { $id: "PublicStatusPage" },
);
export type PublicPage = Static<typeof PublicPage>;
