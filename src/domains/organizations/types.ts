import { type Static, Type } from "typebox";
import { ROLES } from "../../access/principal.ts";
import { EMAIL_MAX_CHARS } from "../../identity/limits.ts";
import { Organization } from "../../identity/types.ts";
import { INVITE_TOKEN_MAX_CHARS } from "../../membership/limits.ts";

const RoleName = Type.Enum([...ROLES]);
const DateTime = (description: string) => Type.String({ format: "date-time", description });

export const Member = Type.Object({
  userId: Type.Integer(),
  email: Type.String(),
  role: RoleName,
  joinedAt: DateTime("When the person became a member."),
});
export type Member = Static<typeof Member>;

export const UpdateMemberBody = Type.Object({ role: RoleName }, { additionalProperties: false });
export type UpdateMemberBody = Static<typeof UpdateMemberBody>;

export const CreateInviteBody = Type.Object(
  {
    email: Type.String({
      minLength: 3,
      maxLength: EMAIL_MAX_CHARS,
      description: "Who is invited. An open invite of the same address is replaced.",
    }),
    role: Type.Enum([...ROLES], { description: "At most the caller's own." }),
  },
  { additionalProperties: false },
);
export type CreateInviteBody = Static<typeof CreateInviteBody>;

const inviteFields = {
  id: Type.Integer(),
  email: Type.String(),
  role: RoleName,
  invitedBy: Type.Integer({ description: "The id of the person who invites." }),
  createdAt: DateTime("When the invite was made."),
  expiresAt: DateTime("Until when it can be accepted."),
};

export const Invite = Type.Object(inviteFields);
export type Invite = Static<typeof Invite>;

export const MintedInvite = Type.Object({
  ...inviteFields,
  token: Type.String({
    description: "What the mailed link carries; it is shown this once and stored only as a hash.",
  }),
});
export type MintedInvite = Static<typeof MintedInvite>;

export const AcceptInviteBody = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: INVITE_TOKEN_MAX_CHARS }) },
  { additionalProperties: false },
);
export type AcceptInviteBody = Static<typeof AcceptInviteBody>;

/** What a person is in an organisation. */
export const Belonging = Type.Object({ organization: Organization, role: RoleName });
export type Belonging = Static<typeof Belonging>;

export const OwnOrganization = Type.Object({
  ...Organization.properties,
  role: RoleName,
  joinedAt: DateTime("When the caller became a member."),
  isCurrent: Type.Boolean({ description: "Whether the credential of this request belongs to it." }),
});
export type OwnOrganization = Static<typeof OwnOrganization>;

export const SwitchOrganizationBody = Type.Object(
  { organizationId: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }) },
  { additionalProperties: false },
);
export type SwitchOrganizationBody = Static<typeof SwitchOrganizationBody>;

export const WebhookSecret = Type.Object({
  secret: Type.String({ description: "`whsec_` and the key in base64, as Standard Webhooks has it." }),
  createdAt: DateTime("When it was made."),
  previousValidUntil: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description:
      "Until when deliveries carry a signature of the secret before this one too; null when none does.",
  }),
});
export type WebhookSecret = Static<typeof WebhookSecret>;
