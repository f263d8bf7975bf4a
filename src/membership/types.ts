import { type Static, Type } from "typebox";
import { ROLES } from "../access/principal.ts";

const RoleName = Type.Enum([...ROLES]);
const DateTime = (description: string) => Type.String({ format: "date-time", description });

export const User = Type.Object({
  id: Type.Integer(),
  email: Type.String(),
  createdAt: DateTime("When the account was made."),
});
export type User = Static<typeof User>;

export const Organization = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  createdAt: DateTime("When the organisation was made."),
});
export type Organization = Static<typeof Organization>;

export const Account = Type.Object({ user: User, organization: Organization });
export type Account = Static<typeof Account>;

export const Member = Type.Object({
  userId: Type.Integer(),
  email: Type.String(),
  role: RoleName,
  joinedAt: DateTime("When the person became a member."),
});
export type Member = Static<typeof Member>;

export const Invite = Type.Object({
  id: Type.Integer(),
  email: Type.String(),
  role: RoleName,
  invitedBy: Type.Integer({ description: "The id of the person who invites." }),
  createdAt: DateTime("When the invite was made."),
  expiresAt: DateTime("Until when it can be accepted."),
});
export type Invite = Static<typeof Invite>;

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
