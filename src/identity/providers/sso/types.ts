import { type Static, Type } from "typebox";
import { EMAIL_MAX_CHARS } from "../../../access/limits.ts";
import { ROLES } from "../../../access/principal.ts";
import { ISSUER_MAX_CHARS } from "../limits.ts";
import { CLIENT_SECRET_MAX_CHARS, GROUP_NAME_MAX_CHARS, SSO_DOMAINS_MAX } from "./limits.ts";

const LINE_PATTERN = "^[^\\p{Cc}\\p{Cs}]*[^\\p{Cc}\\p{Cs}\\p{Z}][^\\p{Cc}\\p{Cs}]*$";
const Line = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: LINE_PATTERN, description });
const DateTime = (description: string) => Type.String({ format: "date-time", description });

export const SLUG_PATTERN = "^[a-z0-9][a-z0-9-]{1,62}$";
const slug = Type.String({
  pattern: SLUG_PATTERN,
  description: "Names the organisation in the sign-in address.",
});
const GroupRoles = Type.Record(Type.String(), Type.Enum([...ROLES]), {
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
      description: "The address of the OpenID provider, exactly as it calls itself.",
    }),
    clientId: Line(255, "Under which this server is registered there."),
    clientSecret: Type.Optional(
      Line(
        CLIENT_SECRET_MAX_CHARS,
        "Never answered; kept when it is absent and issuer and client stay the same.",
      ),
    ),
    groupsClaim: Type.Optional(Line(GROUP_NAME_MAX_CHARS, `${GROUPS_CLAIM} By default \`groups\`.`)),
    groupRoles: Type.Optional(GroupRoles),
    defaultRole: Type.Optional(DefaultRole),
    domains: Type.Optional(
      Type.Array(Type.String({ minLength: 3, maxLength: EMAIL_MAX_CHARS }), {
        maxItems: SSO_DOMAINS_MAX,
        description:
          "Domains of email addresses whose holders become members when they sign in, once verified.",
      }),
    ),
    enforced: Type.Optional(Type.Boolean({ description: `${ENFORCED} By default false.` })),
  },
  { additionalProperties: false },
);
export type PutSsoBody = Static<typeof PutSsoBody>;

export const SsoDomain = Type.Object({
  domain: Type.String(),
  verifiedAt: Type.Union([DateTime("When its DNS record was found."), Type.Null()]),
  record: Type.Object(
    { type: Type.Literal("TXT"), name: Type.String(), value: Type.String() },
    { description: "The DNS record that shows whose the domain is." },
  ),
});
export type SsoDomain = Static<typeof SsoDomain>;

export const SsoConnection = Type.Object({
  slug,
  issuer: Type.String(),
  clientId: Type.String(),
  groupsClaim: Type.String({ description: GROUPS_CLAIM }),
  groupRoles: GroupRoles,
  defaultRole: DefaultRole,
  domains: Type.Array(SsoDomain),
  enforced: Type.Boolean({ description: ENFORCED }),
  startUrl: Type.String({ description: "Where members begin to sign in." }),
  redirectUri: Type.String({ description: "What to register at the provider." }),
  createdAt: DateTime("When the connection was made."),
  updatedAt: DateTime("When it was changed last."),
});
export type SsoConnection = Static<typeof SsoConnection>;
