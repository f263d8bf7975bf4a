/** The bounds of finding errors; each says why it has its value. */

/** Errors whose texts are read by one statement: with those cut as below, tens of megabytes at worst. */
export const PAGE_ENTRIES = 1_000;

/** Bytes of a message or an attribute that are read, its first and its last ones: causes stand at the end of some traces. */
export const TEXT_HEAD_BYTES = 12_288;
export const TEXT_TAIL_BYTES = 6_144;

/** Different errors of an organisation that one seal tells apart at a time: with more, the half with fewest makes room. */
export const DISTINCT_MAX_OF_SEAL = 5_000;

/** Groups of an organisation that one seal keeps, those with most errors: the others are counted together. */
export const GROUPS_MAX_OF_SEAL = 500;

/** Groups that an hour may make of an organisation: more are no faults but one whose text never repeats. */
export const GROUPS_MAX_OF_HOUR = 1_000;

/** The part of the above, and of all groups, that errors may take that came once: what comes again is rather a fault. */
export const SINGLE_MAX_SHARE = 0.5;

/** Groups of an organisation: people look at some tens, and each new one is compared with none. */
export const GROUPS_MAX = 20_000;

/** Entries of a group that are shown, the newest. */
export const SAMPLES_MAX = 10;

/** Characters of the name of a release or an environment, and how many of each are kept of a group. */
export const PLACE_MAX_CHARS = 200;
export const PLACES_MAX_OF_GROUP = 50;

/** Of one seal and group: whoever makes a release of each entry fills no statement. */
export const PLACES_MAX_OF_SEAL = 20;
