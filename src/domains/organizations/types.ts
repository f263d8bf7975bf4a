import { type Static, Type } from "typebox";
import { EMAIL_MAX_CHARS } from "../../access/limits.ts";
import { ROLES } from "../../access/principal.ts";
import { INVITE_TOKEN_MAX_CHARS } from "../../membership/limits.ts";
import { Invite } from "../../membership/types.ts";

const RoleName = Type.Enum([...ROLES]);
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

export const MintedInvite = Type.Object({
  ...Invite.properties,
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

export const SwitchOrganizationBody = Type.Object(
  { organizationId: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }) },
  { additionalProperties: false },
);
export type SwitchOrganizationBody = Static<typeof SwitchOrganizationBody>;
