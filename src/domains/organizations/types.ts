import { type Static, Type } from "typebox";
import { EMAIL_MAX_CHARS } from "../../access/limits.ts";
import { ROLES } from "../../access/principal.ts";
import { INVITE_TOKEN_MAX_CHARS } from "../../membership/limits.ts";
import { Invite } from "../../membership/types.ts";

const RoleName = Type.Enum([...ROLES], { examples: ["admin"] });
const INVITE_TOKEN = "8Qm3vT0cZr1yKx5uWb7dNf2hJp9sLg4e";

export const UpdateMemberBody = Type.Object(
  { role: RoleName },
  { $id: "UpdateMember", additionalProperties: false },
);
export type UpdateMemberBody = Static<typeof UpdateMemberBody>;

export const CreateInviteBody = Type.Object(
  {
    email: Type.String({
      minLength: 3,
      maxLength: EMAIL_MAX_CHARS,
      examples: ["ben@example.com"],
      description: "Who is invited. An open invite of the same address is replaced.",
    }),
    role: Type.Enum([...ROLES], { description: "At most the caller's own.", examples: ["member"] }),
  },
  { $id: "CreateInvite", additionalProperties: false },
);
export type CreateInviteBody = Static<typeof CreateInviteBody>;

export const MintedInvite = Type.Object(
  {
    ...Invite.properties,
    token: Type.String({
      description: "What the mailed link carries; it is shown this once and stored only as a hash.",
      examples: [INVITE_TOKEN],
    }),
  },
  { $id: "MintedInvite" },
);
export type MintedInvite = Static<typeof MintedInvite>;

export const AcceptInviteBody = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: INVITE_TOKEN_MAX_CHARS, examples: [INVITE_TOKEN] }) },
  { $id: "AcceptInvite", additionalProperties: false },
);
export type AcceptInviteBody = Static<typeof AcceptInviteBody>;

export const SwitchOrganizationBody = Type.Object(
  { organizationId: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, examples: [3] }) },
  { $id: "SwitchOrganization", additionalProperties: false },
);
export type SwitchOrganizationBody = Static<typeof SwitchOrganizationBody>;
