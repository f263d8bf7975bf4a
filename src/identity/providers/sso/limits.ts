/** Bounds of organisations' own identity providers. */

/** Domains of one organisation; each sign-in of somebody new looks at them. */
export const SSO_DOMAINS_MAX = 20;
/** Groups that give a role. */
export const GROUP_ROLES_MAX = 200;
export const GROUP_NAME_MAX_CHARS = 255;
export const CLIENT_SECRET_MAX_CHARS = 1_024;
/** The body of a connection: all groups and domains fit, also with every character escaped. */
export const SSO_BODY_MAX_BYTES = 512 * 1024;

/** One question to one name server; there are as many attempts. */
export const TXT_TIMEOUT_MS = 2_000;
export const TXT_TRIES = 2;
