/** Bounds of what belongs to an organisation as such. */

const HOUR_MS = 60 * 60 * 1000;

/** Members of one organisation: the list of them is one answer, which somebody reads. */
export const MEMBERS_MAX = 1000;

/** Open invites of one organisation; each is a mail to somebody who has not asked for it. */
export const INVITES_MAX = 100;
/** Invites that one organisation makes in 24 hours, also those it took back: each was a mail to whoever it liked. */
export const INVITES_PER_DAY_MAX = 200;
/** What a refused caller is told to wait: by then some of them are a day old, unless all were made at once. */
export const INVITES_RETRY_AFTER_SECONDS = 3600;
/** How long an invite can be accepted. */
export const INVITE_LIFE_MS = 7 * 24 * HOUR_MS;
/** Characters of a token somebody brings; ours are shorter. */
export const INVITE_TOKEN_MAX_CHARS = 200;
/** Bodies of the routes about members and invites: an email or a token, also with every character escaped. */
export const MEMBERSHIP_BODY_MAX_BYTES = 16 * 1024;
