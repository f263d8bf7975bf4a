/**
 * Bounds of the identity area. Everything a stranger can make the server remember, compute or wait for is bounded here.
 */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** New passwords. The floor makes online guessing hopeless, the ceiling bounds what is hashed. */
export const PASSWORD_MIN_CHARS = 12;
export const PASSWORD_MAX_CHARS = 128;
/** Changing a password allows 256 characters, so logging in must accept as many. */
export const LOGIN_PASSWORD_MAX_CHARS = 256;

/** OWASP's argon2id recommendation: about 57 ms and 19 MiB for each hash. */
export const ARGON2_MEMORY_KIB = 19_456;
export const ARGON2_TIME_COST = 2;
/** Hashes waiting for a core. At about 57 ms each on two cores the last one waits under two seconds. */
export const PASSWORD_QUEUE_MAX = 64;
/** What a refused caller is told to wait: about the time a full queue takes to drain. */
export const PASSWORD_QUEUE_RETRY_AFTER_SECONDS = 2;

/** A session ends this long after its last use ... */
export const SESSION_IDLE_MS = 30 * DAY_MS;
/** ... and this long after login however busy it is, so that a stolen cookie does not live for ever. */
export const SESSION_ABSOLUTE_MS = 365 * DAY_MS;
/** Sessions of one person; a login beyond it ends the one unused for longest, so a login loop cannot fill the table. */
export const SESSIONS_PER_USER_MAX = 50;

/** Live tokens of one person in one organisation; listing them is one unpaged answer. */
export const TOKENS_PER_OWNER_MAX = 500;
/** Scopes in one request: the 24 scopes, their families' wildcards and `*` fit with room. */
export const SCOPES_PER_TOKEN_MAX = 64;

/** How long an authenticated credential is trusted without asking Postgres: the delay of a revocation elsewhere. */
export const CREDENTIAL_CACHE_LIFE_MS = SECOND_MS;
/** Known credentials kept: about 500 bytes each, so about 5 MB. */
export const CREDENTIAL_CACHE_MAX = 10_000;
/** Unknown credentials kept apart, so that a flood of invented tokens does not evict real ones. */
export const REFUSED_CREDENTIAL_CACHE_MAX = 2_000;
/** Distinct credentials being looked up at once; more than this means Postgres does not answer. */
export const CREDENTIAL_LOOKUPS_MAX = 1_000;
/** A lookup slower than this is given up as a failing store. */
export const CREDENTIAL_LOOKUP_TIMEOUT_MS = 5 * SECOND_MS;

/** How often the last use of a credential is written down. */
export const USAGE_INTERVAL_MS = MINUTE_MS;
/** Credentials whose use waits to be written; beyond it a use goes unrecorded until the next one. */
export const USAGE_PENDING_MAX = 10_000;

/** Failures an account or an address has free before the delay starts. Many people may share an address. */
export const ACCOUNT_FREE_FAILURES = 5;
export const ADDRESS_FREE_FAILURES = 20;
/** The first delay; it doubles with every further failure. */
export const FAILURE_DELAY_BASE_MS = SECOND_MS;
/**
 * Ceilings of the delay. The account's is low, because whoever fails on purpose also delays the owner; it still
 * leaves 288 guesses a day, which no 12-character password falls to.
 */
export const ACCOUNT_DELAY_MAX_MS = 5 * MINUTE_MS;
export const ADDRESS_DELAY_MAX_MS = 15 * MINUTE_MS;
/** Failures are forgotten after this long without a new one. It exceeds the longest delay. */
export const FAILURE_MEMORY_MS = 60 * MINUTE_MS;
/** Accounts and addresses with failures kept in one process: about 200 bytes each, so about 20 MB. */
export const FAILURE_KEYS_MAX = 100_000;

/** Bodies of signing up and in: the longest email and password fit, also with every character escaped. */
export const CREDENTIALS_BODY_MAX_BYTES = 16 * 1024;
/** The body of a new token: a name and every scope there is fit many times over. */
export const TOKEN_BODY_MAX_BYTES = 64 * 1024;

/** How long a mailed link to choose a new password works. */
export const RESET_LINK_LIFE_MS = 60 * MINUTE_MS;
/** How long a mailed link that confirms an address works; people read mail on the next day. */
export const VERIFICATION_LINK_LIFE_MS = 48 * 60 * MINUTE_MS;
/** How long a notice about a changed account is worth sending. */
export const NOTICE_LIFE_MS = 3 * DAY_MS;
/** Links of one kind that work for one person; the oldest goes first. Asking often must not break the link just mailed. */
export const LINKS_PER_PERSON_MAX = 5;
/** Mails an address may be sent on somebody's request before delays begin, and the longest of them. */
export const LINK_FREE_REQUESTS = 3;
export const LINK_DELAY_MAX_MS = 15 * MINUTE_MS;
/** Requests for links done in one go. */
export const LINK_REQUEST_BATCH_MAX = 50;
/** How often requests that other instances left are looked for. */
export const LINK_REQUEST_POLL_MS = 2 * SECOND_MS;

/** RFC 6238's defaults, which every authenticator app understands. */
export const TOTP_PERIOD_SECONDS = 30;
export const TOTP_DIGITS = 6;
/** Steps a device's clock may be off, either way. */
export const TOTP_WINDOW_STEPS = 1;
/** Bytes of the secret: the length of the hash, as RFC 4226 recommends. */
export const TOTP_SECRET_BYTES = 20;
export const RECOVERY_CODES = 10;
/**
 * Wrong codes a person has free, and the longest delay after them. Only who knows the password gets this far, so that
 * nobody else can delay the owner.
 */
export const SECOND_FACTOR_FREE_FAILURES = 5;
export const SECOND_FACTOR_DELAY_MAX_MS = 30 * MINUTE_MS;
/**
 * Wrong codes of a person in a day of UTC. Three codes in a million are right at any time, so a year of guessing by
 * somebody who knows the password finds one with a chance of 3 in 100. A new password begins the count anew.
 */
export const SECOND_FACTOR_FAILURES_PER_DAY_MAX = 30;
