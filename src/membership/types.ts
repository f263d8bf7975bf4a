import { type Static, Type } from "typebox";
import { ROLES } from "../access/principal.ts";

const RoleName = Type.Enum([...ROLES], { examples: ["member"] });
const Email = Type.String({ examples: ["ana@example.com"] });
const DateTime = (description: string) => Type.String({ format: "date-time", description });

export const User = Type.Object(
  {
    id: Type.Integer({ examples: [7] }),
    email: Email,
    createdAt: DateTime("When the account was made."),
  },
  { $id: "User" },
);
export type User = Static<typeof User>;

export const Organization = Type.Object(
  {
    id: Type.Integer({ examples: [3] }),
    name: Type.String({ examples: ["Example Ltd"] }),
    createdAt: DateTime("When the organisation was made."),
  },
  { $id: "Organization" },
);
export type Organization = Static<typeof Organization>;

export const Account = Type.Object({ user: User, organization: Organization }, { $id: "Account" });
export type Account = Static<typeof Account>;

export const Member = Type.Object(
  {
    userId: Type.Integer({ examples: [7] }),
    email: Email,
    role: RoleName,
    joinedAt: DateTime("When the person became a member."),
  },
  { $id: "Member" },
);
export type Member = Static<typeof Member>;

export const Invite = Type.Object(
  {
    id: Type.Integer({ examples: [12] }),
    email: Email,
    role: RoleName,
    invitedBy: Type.Integer({ description: "The id of the person who invites.", examples: [7] }),
    createdAt: DateTime("When the invite was made."),
    expiresAt: Type.String({
      format: "date-time",
      description: "Until when it can be accepted.",
      examples: ["2026-03-08T12:00:00.000Z"],
    }),
  },
  { $id: "Invite" },
);
export type Invite = Static<typeof Invite>;

/** What a person is in an organisation. */
export const Belonging = Type.Object({ organization: Organization, role: RoleName }, { $id: "Belonging" });
export type Belonging = Static<typeof Belonging>;

export const OwnOrganization = Type.Object(
  {
    ...Organization.properties,
    role: RoleName,
    joinedAt: DateTime("When the caller became a member."),
    isCurrent: Type.Boolean({ description: "Whether the credential of this request belongs to it." }),
  },
  { $id: "OwnOrganization" },
);
export type OwnOrganization = Static<typeof OwnOrganization>;
