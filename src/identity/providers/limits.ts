/** Bounds of signing in through identity providers, whose answers are somebody else's. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** Time to type a password and a code at the provider; what is intercepted is worthless afterwards. */
export const AUTHORIZATION_LIFE_MS = 10 * MINUTE_MS;
/** Sign-ins under way; beyond it the oldest are dropped. About 700 bytes each, so about 35 MB. */
export const AUTHORIZATION_REQUESTS_MAX = 50_000;

/** One request to a provider. A sign-in takes up to four: discovery, token, keys, userinfo. */
export const PROVIDER_TIMEOUT_MS = 5 * SECOND_MS;
/** All of them together, within which the connection to the browser must not be given up. */
export const SIGN_IN_IDLE_TIMEOUT_SEC = 30;
/** One answer of a provider: discovery documents and keys of large ones have some 20 kB, people in many groups more. */
export const PROVIDER_ANSWER_MAX_BYTES = 256 * 1024;
/** Conversations with providers at once, so that one that hangs does not take every connection. */
export const PROVIDER_CONVERSATIONS_MAX = 64;
/** What a caller is told to wait while a provider is down or busy. */
export const PROVIDER_RETRY_AFTER_SECONDS = 10;

/** How long a discovery document is believed; an organisation that moves its endpoints waits that long at most. */
export const ISSUER_LIFE_MS = 60 * MINUTE_MS;
/** Issuers whose documents and keys are kept: at the largest allowed about 100 MB, as providers really are about 5 MB. */
export const ISSUERS_MAX = 200;

/** OpenID Connect Core 2: a subject has at most 255 ASCII characters. */
export const SUBJECT_MAX_CHARS = 255;
export const ISSUER_MAX_CHARS = 2_048;
/** Groups of one person that are looked at; directories allow about as many. */
export const GROUPS_MAX = 1_000;

/** A path of our own to go to after signing in. */
export const RETURN_PATH_MAX_CHARS = 2_048;
/** Parameters a provider sends back: codes of large providers have about 2 kB. */
export const CALLBACK_PARAMETER_MAX_CHARS = 4_096;
