import { type Static, Type } from "typebox";
import { EMAIL_MAX_CHARS } from "../../../access/limits.ts";
import { ROLES } from "../../../access/principal.ts";
import { ISSUER_MAX_CHARS } from "../limits.ts";
import { CLIENT_SECRET_MAX_CHARS, GROUP_NAME_MAX_CHARS, SSO_DOMAINS_MAX } from "./limits.ts";

const LINE_PATTERN = "^[^\\p{Cc}\\p{Cs}]*[^\\p{Cc}\\p{Cs}\\p{Z}][^\\p{Cc}\\p{Cs}]*$";
const ISSUER = "https://login.example.com";
const CLIENT_ID = "obs-production";
const DOMAIN = "example.com";
const Line = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, pattern: LINE_PATTERN, description, examples: [example] });
const DateTime = (description: string) => Type.String({ format: "date-time", description });

export const SLUG_PATTERN = "^[a-z0-9][a-z0-9-]{1,62}$";
const slug = Type.String({
  pattern: SLUG_PATTERN,
  examples: ["example-ltd"],
  description: "Names the organisation in the sign-in address.",
});
const GroupRoles = Type.Record(Type.String(), Type.Enum([...ROLES]), {
  examples: [{ engineers: "member", "on-call": "admin" }],
  description:
    "The role each group gives; the highest counts. Once there are any, every sign-in sets the role. " +
    "Groups that make owners take an owner to set.",
});
const DefaultRole = Type.Enum(["viewer", "member", "admin"], {
  description: "The role of a new member in none of the groups, and of every one once groups give roles.",
});
const GROUPS_CLAIM = "The claim that lists a person's groups.";
const ENFORCED = "Whether members other than owners can sign in through this provider only.";

export const PutSsoBody = Type.Object(
  {
    slug,
    issuer: Type.String({
      format: "uri",
      maxLength: ISSUER_MAX_CHARS,
      examples: [ISSUER],
      description: "The address of the OpenID provider, exactly as it calls itself.",
    }),
    clientId: Line(255, "Under which this server is registered there.", CLIENT_ID),
    clientSecret: Type.Optional(
      Line(
        CLIENT_SECRET_MAX_CHARS,
        "Never answered; kept when it is absent and issuer and client stay the same.",
        "9fJ2kLq7Rz4Xw1Tb",
      ),
    ),
    groupsClaim: Type.Optional(
      Line(GROUP_NAME_MAX_CHARS, `${GROUPS_CLAIM} By default \`groups\`.`, "groups"),
    ),
    groupRoles: Type.Optional(GroupRoles),
    defaultRole: Type.Optional(DefaultRole),
    domains: Type.Optional(
      Type.Array(Type.String({ minLength: 3, maxLength: EMAIL_MAX_CHARS, examples: [DOMAIN] }), {
        maxItems: SSO_DOMAINS_MAX,
        description:
          "Domains of email addresses whose holders become members when they sign in, once verified.",
      }),
    ),
    enforced: Type.Optional(Type.Boolean({ description: `${ENFORCED} By default false.` })),
  },
  { $id: "PutSsoConnection", additionalProperties: false },
);
export type PutSsoBody = Static<typeof PutSsoBody>;

export const SsoDomain = Type.Object(
  {
    domain: Type.String({ examples: [DOMAIN] }),
    verifiedAt: Type.Union([DateTime("When its DNS record was found."), Type.Null()]),
    record: Type.Object(
      {
        type: Type.Literal("TXT"),
        name: Type.String({ examples: [`_obs-challenge.${DOMAIN}`] }),
        value: Type.String({ examples: ["obs-domain-verification=4mT9xQ2vKc7RbY1n"] }),
      },
      { description: "The DNS record that shows whose the domain is." },
    ),
  },
  { $id: "SsoDomain" },
);
export type SsoDomain = Static<typeof SsoDomain>;

export const SsoConnection = Type.Object(
  {
    slug,
    issuer: Type.String({ examples: [ISSUER] }),
    clientId: Type.String({ examples: [CLIENT_ID] }),
    groupsClaim: Type.String({ description: GROUPS_CLAIM, examples: ["groups"] }),
    groupRoles: GroupRoles,
    defaultRole: DefaultRole,
    domains: Type.Array(SsoDomain),
    enforced: Type.Boolean({ description: ENFORCED }),
    startUrl: Type.String({
      description: "Where members begin to sign in.",
      examples: ["https://obs.example.com/api/v1/auth/sso/example-ltd/start"],
    }),
    redirectUri: Type.String({
      description: "What to register at the provider.",
      examples: ["https://obs.example.com/api/v1/auth/sso/callback"],
    }),
    createdAt: DateTime("When the connection was made."),
    updatedAt: DateTime("When it was changed last."),
  },
  { $id: "SsoConnection" },
);
export type SsoConnection = Static<typeof SsoConnection>;
