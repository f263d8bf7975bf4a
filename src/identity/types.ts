import { type Static, Type } from "typebox";
import { EMAIL_MAX_CHARS } from "../access/limits.ts";
import { ROLES } from "../access/principal.ts";
import { storedTime } from "../http/stored-values.ts";
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

const Line = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 255, pattern: LINE_PATTERN, description, examples: [example] });
const DateTime = (description: string) => Type.String({ format: "date-time", description });
const Nullable = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()]);
const NEXT_YEAR = "2027-03-01T12:00:00.000Z";
const PASSWORD = "correct horse battery staple";
const NEW_PASSWORD = "seven quiet lamps by the sea";
const LINK_TOKEN = "k3Yb9wQx2LrT7uVn5McZ1pHs8DfGj4Ea";
const SCOPES = ["logs:write"];
const ScopeName = Type.Enum([...GRANTABLE_SCOPES], {
  examples: SCOPES,
  description: "A scope, a family's wildcard such as `logs:*`, or `*`.",
});
const Email = Type.String({
  examples: ["ana@example.com"],
  minLength: 3,
  maxLength: EMAIL_MAX_CHARS,
  description: "An email address; letters of any script are allowed. Capitals do not matter.",
});
const DailyLimit = (what: string) =>
  Nullable(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [100_000_000],
      description: `${what} a day (UTC); null means no cap.`,
    }),
  );

export const RegisterBody = Type.Object(
  {
    email: Email,
    password: Type.String({
      minLength: PASSWORD_MIN_CHARS,
      maxLength: PASSWORD_MAX_CHARS,
      examples: [PASSWORD],
    }),
    organizationName: Type.Optional(
      Line("The name of the new organisation; by default made from the email.", "Example Ltd"),
    ),
    inviteToken: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Joins the organisation that invited this email, instead of making a new one.",
      }),
    ),
  },
  {
    $id: "Register",
    additionalProperties: false,
    examples: [{ email: "ana@example.com", password: PASSWORD, organizationName: "Example Ltd" }],
  },
);
export type RegisterBody = Static<typeof RegisterBody>;

export const LoginBody = Type.Object(
  {
    email: Email,
    password: Type.String({ minLength: 1, maxLength: LOGIN_PASSWORD_MAX_CHARS, examples: [PASSWORD] }),
    totp: Type.Optional(
      Type.String({
        minLength: 6,
        maxLength: 11,
        examples: ["492039"],
        description: "A one-time or recovery code; looked at only when the account asks for one.",
      }),
    ),
  },
  { $id: "Login", additionalProperties: false },
);
export type LoginBody = Static<typeof LoginBody>;

const NewPassword = (maxLength: number) =>
  Type.String({
    minLength: PASSWORD_MIN_CHARS,
    maxLength,
    examples: [NEW_PASSWORD],
    description: "Any characters; one of the most common passwords is refused.",
  });
const OneTimeCode = Type.String({
  minLength: 6,
  maxLength: 11,
  examples: ["492039"],
  description: "Six digits of the authenticator app, or a recovery code.",
});

export const ForgotPasswordBody = Type.Object(
  { email: Email },
  { $id: "MailedLinkRequest", additionalProperties: false },
);
export type ForgotPasswordBody = Static<typeof ForgotPasswordBody>;

export const ResetPasswordBody = Type.Object(
  {
    token: Type.String({
      minLength: 20,
      maxLength: 200,
      description: "What the mailed link carries.",
      examples: [LINK_TOKEN],
    }),
    newPassword: NewPassword(PASSWORD_MAX_CHARS),
  },
  { $id: "ResetPassword", additionalProperties: false },
);
export type ResetPasswordBody = Static<typeof ResetPasswordBody>;

export const ChangePasswordBody = Type.Object(
  {
    currentPassword: Type.String({
      minLength: 1,
      maxLength: LOGIN_PASSWORD_MAX_CHARS,
      examples: [PASSWORD],
    }),
    newPassword: NewPassword(LOGIN_PASSWORD_MAX_CHARS),
  },
  { $id: "ChangePassword", additionalProperties: false },
);
export type ChangePasswordBody = Static<typeof ChangePasswordBody>;

export const MfaVerifyBody = Type.Object(
  { code: OneTimeCode },
  { $id: "VerifyMfa", additionalProperties: false },
);
export type MfaVerifyBody = Static<typeof MfaVerifyBody>;

export const MfaDisableBody = Type.Object(
  {
    password: Type.Optional(Type.String({ minLength: 1, maxLength: LOGIN_PASSWORD_MAX_CHARS })),
    code: Type.Optional(OneTimeCode),
  },
  { $id: "DisableMfa", additionalProperties: false, examples: [{ code: "492039" }] },
);
export type MfaDisableBody = Static<typeof MfaDisableBody>;

export const MfaEnrolment = Type.Object(
  {
    secret: Type.String({
      description: "The shared secret in base32, to be typed into an authenticator app.",
      examples: ["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"],
    }),
    otpauthUri: Type.String({
      description: "The same for a QR code.",
      examples: ["otpauth://totp/obs:ana%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=obs"],
    }),
    recoveryCodes: Type.Array(Type.String({ examples: ["7kq2x-m4vtd"] }), {
      description: "Each signs in once instead of a one-time code; they are shown this once.",
    }),
  },
  { $id: "MfaEnrolment" },
);
export type MfaEnrolment = Static<typeof MfaEnrolment>;

const PlanLimit = Nullable(Type.Integer({ description: "Null means unlimited.", examples: [1_000_000] }));
const Quota = Type.Object(
  {
    limit: PlanLimit,
    used: Nullable(Type.Integer({ description: "Null while the plan sets no limit to count against." })),
  },
  { $id: "Quota" },
);

export const Me = Type.Object(
  {
    user: User,
    organization: Organization,
    role: Type.Enum([...ROLES], { examples: ["owner"] }),
    emailVerified: Type.Boolean(),
    mfaEnabled: Type.Boolean({ description: "Whether signing in with a password asks for a one-time code." }),
    scopes: Type.Array(Type.String({ examples: SCOPES }), {
      description: "What the credential of this request may do; a session has `*`.",
    }),
    plan: Type.Object({
      name: Type.String({ examples: ["default"] }),
      limits: Type.Object({ monitors: PlanLimit, monthlyChecks: PlanLimit, monthlyLogBytes: PlanLimit }),
    }),
    quota: Type.Object({ monitors: Quota, monthlyChecks: Quota, monthlyLogBytes: Quota }),
  },
  { $id: "Me" },
);
export type Me = Static<typeof Me>;

export const CreateTokenBody = Type.Object(
  {
    name: Line("What the token is for.", "shipper"),
    expiresAt: Type.Optional(
      storedTime({
        description: "When the token stops working; in the future. Omitted means never.",
        examples: [NEXT_YEAR],
      }),
    ),
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
  { $id: "CreateToken", additionalProperties: false, examples: [{ name: "shipper", scopes: SCOPES }] },
);
export type CreateTokenBody = Static<typeof CreateTokenBody>;

const tokenFields = {
  id: Type.Integer({ examples: [17] }),
  name: Type.String({ examples: ["shipper"] }),
  prefix: Type.String({ description: "The first 12 characters of the token.", examples: ["obs_kX4Jt9Wq"] }),
  scopes: Type.Array(Type.String({ examples: SCOPES })),
  dailyMutationLimit: Nullable(Type.Integer({ description: "State-changing calls a day (UTC)." })),
  dailyLogBytesLimit: Nullable(Type.Integer({ description: "Bytes of logs a day (UTC)." })),
  createdAt: DateTime("When the token was made."),
  expiresAt: Nullable(
    Type.String({
      format: "date-time",
      description: "When the token stops working.",
      examples: [NEXT_YEAR],
    }),
  ),
};

export const Token = Type.Object(
  {
    ...tokenFields,
    lastUsedAt: Nullable(DateTime("When the token was last used, to the minute.")),
  },
  { $id: "Token" },
);
export type Token = Static<typeof Token>;

export const MintedToken = Type.Object(
  {
    ...tokenFields,
    token: Type.String({
      description: "The token itself; it is shown this once and stored only as a hash.",
      examples: ["obs_kX4Jt9WqPz2Rm7YcBv5LsNd8HfGa3UeTi6Ow1Qx0JbM"],
    }),
  },
  { $id: "MintedToken" },
);
export type MintedToken = Static<typeof MintedToken>;
