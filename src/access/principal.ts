/** Roles in an organisation, weakest first. */
export const ROLES = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** Every scope a token can carry besides the wildcards `*` and `family:*`. */
export const SCOPES = [
  "monitors:read",
  "monitors:write",
  "secrets:read",
  "incidents:read",
  "incidents:write",
  "status-pages:read",
  "status-pages:write",
  "maintenance:read",
  "maintenance:write",
  "logs:read",
  "logs:write",
  "sources:read",
  "sources:write",
  "alerts:read",
  "alerts:write",
  "metrics:read",
  "security:read",
  "security:write",
  "on-call:read",
  "on-call:write",
  "account:read",
  "account:write",
  "tokens:write",
  "audit:read",
] as const;
export type Scope = (typeof SCOPES)[number];

/** Null is no cap. */
export interface DailyCapsOfToken {
  readonly dailyMutations: number | null;
  readonly dailyLogBytes: number | null;
}

export const NO_DAILY_CAPS: DailyCapsOfToken = { dailyMutations: null, dailyLogBytes: null };

/** Who is calling, as established by the credential of the request. */
export interface Principal {
  readonly kind: "session" | "token";
  readonly userId: number;
  readonly organizationId: number;
  readonly email: string;
  readonly role: Role;
  /** Granted scopes with wildcards; a session has `["*"]`. */
  readonly scopes: readonly string[];
  /** The token's id; null for a session. */
  readonly tokenId: number | null;
  /** What a token may do in a day of UTC; a session has no such caps. */
  readonly caps: DailyCapsOfToken;
  /** Names the credential for rate limits without revealing it, for example `token:17`. */
  readonly credentialKey: string;
}

/** True when `role` includes everything `required` may do. */
export function roleSatisfies(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

/** True when one of the granted scopes is the required one, its family's wildcard or `*`. */
export function scopesSatisfy(granted: readonly string[], required: Scope): boolean {
  if (granted.includes("*") || granted.includes(required)) return true;
  return granted.includes(`${required.slice(0, required.indexOf(":"))}:*`);
}
