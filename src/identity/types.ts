import { type Static, Type } from "typebox";
import { EMAIL_MAX_CHARS } from "../access/limits.ts";
import { ROLES } from "../access/principal.ts";
import { Organization, User } from "../membership/types.ts";
import {
  LOGIN_PASSWORD_MAX_CHARS,
  PASSWORD_MAX_CHARS,
  PASSWORD_MIN_CHARS,
  SCOPES_PER_TOKEN_MAX,
} from "./limits.ts";
import { GRANTABLE_SCOPES } from "./scope-grants.ts";

/** One line of text: no control characters, no broken surrogates, not only blanks. Postgres could not store some of them. */
const LINE_PATTERN = "^[^\\p{Cc}\\p{Cs}]*[^\\p{Cc}\\p{Cs}\\p{Z}][^\\p{Cc}\\p{Cs}]*$";

const Line = (description: string) =>
  Type.String({ minLength: 1, maxLength: 255, pattern: LINE_PATTERN, description });
const DateTime = (description: string) => Type.String({ format: "date-time", description });
const Nullable = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()]);
const ScopeName = Type.Enum([...GRANTABLE_SCOPES], {
  description: "A scope, a family's wildcard such as `logs:*`, or `*`.",
});
const Email = Type.String({
  minLength: 3,
  maxLength: EMAIL_MAX_CHARS,
  description: "An email address; letters of any script are allowed. Capitals do not matter.",
});
const DailyLimit = (what: string) =>
  Nullable(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: `${what} a day (UTC); null means no cap.`,
    }),
  );

export const RegisterBody = Type.Object(
  {
    email: Email,
    password: Type.String({ minLength: PASSWORD_MIN_CHARS, maxLength: PASSWORD_MAX_CHARS }),
    organizationName: Type.Optional(
      Line("The name of the new organisation; by default made from the email."),
    ),
    inviteToken: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Joins the organisation that invited this email, instead of making a new one.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type RegisterBody = Static<typeof RegisterBody>;

export const LoginBody = Type.Object(
  {
    email: Email,
    password: Type.String({ minLength: 1, maxLength: LOGIN_PASSWORD_MAX_CHARS }),
    totp: Type.Optional(
      Type.String({
        minLength: 6,
        maxLength: 11,
        description: "A one-time or recovery code; looked at only when the account asks for one.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type LoginBody = Static<typeof LoginBody>;

const NewPassword = (maxLength: number) =>
  Type.String({
    minLength: PASSWORD_MIN_CHARS,
    maxLength,
    description: "Any characters; one of the most common passwords is refused.",
  });
const OneTimeCode = Type.String({
  minLength: 6,
  maxLength: 11,
  description: "Six digits of the authenticator app, or a recovery code.",
});

export const ForgotPasswordBody = Type.Object({ email: Email }, { additionalProperties: false });
export type ForgotPasswordBody = Static<typeof ForgotPasswordBody>;

export const ResetPasswordBody = Type.Object(
  {
    token: Type.String({ minLength: 20, maxLength: 200, description: "What the mailed link carries." }),
    newPassword: NewPassword(PASSWORD_MAX_CHARS),
  },
  { additionalProperties: false },
);
export type ResetPasswordBody = Static<typeof ResetPasswordBody>;

export const ChangePasswordBody = Type.Object(
  {
    currentPassword: Type.String({ minLength: 1, maxLength: LOGIN_PASSWORD_MAX_CHARS }),
    newPassword: NewPassword(LOGIN_PASSWORD_MAX_CHARS),
  },
  { additionalProperties: false },
);
export type ChangePasswordBody = Static<typeof ChangePasswordBody>;

export const MfaVerifyBody = Type.Object({ code: OneTimeCode }, { additionalProperties: false });
export type MfaVerifyBody = Static<typeof MfaVerifyBody>;

export const MfaDisableBody = Type.Object(
  {
    password: Type.Optional(Type.String({ minLength: 1, maxLength: LOGIN_PASSWORD_MAX_CHARS })),
    code: Type.Optional(OneTimeCode),
  },
  { additionalProperties: false },
);
export type MfaDisableBody = Static<typeof MfaDisableBody>;

export const MfaEnrolment = Type.Object({
  secret: Type.String({ description: "The shared secret in base32, to be typed into an authenticator app." }),
  otpauthUri: Type.String({ description: "The same for a QR code." }),
  recoveryCodes: Type.Array(Type.String(), {
    description: "Each signs in once instead of a one-time code; they are shown this once.",
  }),
});
export type MfaEnrolment = Static<typeof MfaEnrolment>;

const PlanLimit = Nullable(Type.Integer({ description: "Null means unlimited." }));
const Quota = Type.Object({
  limit: PlanLimit,
  used: Nullable(Type.Integer({ description: "Null while the plan sets no limit to count against." })),
});

export const Me = Type.Object({
  user: User,
  organization: Organization,
  role: Type.Enum([...ROLES]),
  emailVerified: Type.Boolean(),
  mfaEnabled: Type.Boolean({ description: "Whether signing in with a password asks for a one-time code." }),
  scopes: Type.Array(Type.String(), {
    description: "What the credential of this request may do; a session has `*`.",
  }),
  plan: Type.Object({
    name: Type.String(),
    limits: Type.Object({ monitors: PlanLimit, monthlyChecks: PlanLimit, monthlyLogBytes: PlanLimit }),
  }),
  quota: Type.Object({ monitors: Quota, monthlyChecks: Quota, monthlyLogBytes: Quota }),
});
export type Me = Static<typeof Me>;

export const CreateTokenBody = Type.Object(
  {
    name: Line("What the token is for."),
    expiresAt: Type.Optional(DateTime("When the token stops working; in the future. Omitted means never.")),
    scopes: Type.Optional(
      Type.Array(ScopeName, {
        minItems: 1,
        maxItems: SCOPES_PER_TOKEN_MAX,
        description: 'What the token may do; by default `["*"]`. Its owner\'s role bounds it besides.',
      }),
    ),
    dailyMutationLimit: Type.Optional(DailyLimit("State-changing calls")),
    dailyLogBytesLimit: Type.Optional(DailyLimit("Bytes of logs")),
  },
  { additionalProperties: false },
);
export type CreateTokenBody = Static<typeof CreateTokenBody>;

const tokenFields = {
  id: Type.Integer(),
  name: Type.String(),
  prefix: Type.String({ description: "The first 12 characters of the token." }),
  scopes: Type.Array(Type.String()),
  dailyMutationLimit: Nullable(Type.Integer()),
  dailyLogBytesLimit: Nullable(Type.Integer()),
  createdAt: DateTime("When the token was made."),
  expiresAt: Nullable(DateTime("When the token stops working.")),
};

export const Token = Type.Object({
  ...tokenFields,
  lastUsedAt: Nullable(DateTime("When the token was last used, to the minute.")),
});
export type Token = Static<typeof Token>;

export const MintedToken = Type.Object({
  ...tokenFields,
  token: Type.String({ description: "The token itself; it is shown this once and stored only as a hash." }),
});
export type MintedToken = Static<typeof MintedToken>;
