/** Rules of one organisation: each is asked about every entry. */
export const RULES_MAX = 100;
/** What one mask may name. */
export const MASK_FIELDS_MAX = 100;
export const FIELD_MAX_CHARS = 512;
export const KEEP_ONE_IN_MAX = 1_000_000;
export const POSITION_MAX = 1_000_000;

/** How old what an instance knows of the rules may be: a change takes effect on all of them within a second. */
export const RULES_LIFE_MS = 1_000;
/** From this age on they are asked for beside the requests, which do not wait for it. */
export const RULES_REFRESH_MS = 500;
/** How long a request waits for rules that are older, before those known last are used. */
export const RULES_TIMEOUT_MS = 2_000;
/** Organisations whose rules an instance remembers, most of them none; those asked for longest ago go first. */
export const ORGANIZATIONS_MAX = 10_000;

/** From one write of what rules did to the next: so much a kill can lose of the counts. */
export const COUNTS_INTERVAL_MS = 1_000;
/** How long the last write may take when the server stops. */
export const COUNTS_SETTLE_MS = 1_500;
/** Rules and hours with something to write down; beyond, while Postgres is away, nothing more is noted. */
export const COUNTS_PENDING_MAX = 20_000;
/** How long counts are kept. */
export const COUNTS_KEPT_MS = 90 * 86_400_000;
/** Hours of one answer: all that are kept, and the one that is under way. */
export const COUNTS_MAX_HOURS = 90 * 24 + 1;
/** What is answered where no range is given. */
export const COUNTS_DEFAULT_MS = 86_400_000;

/** Entries a preview looks at, and those of them that it shows. */
export const PREVIEW_MAX_ENTRIES = 100;
export const PREVIEW_MAX_SAMPLES = 20;
