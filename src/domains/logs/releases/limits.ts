/** The bounds of what is told of releases; each says why it has its value. */

/** Releases that are told, the latest: what somebody looks at who has just been woken. */
export const RELEASES_MAX_COUNT = 20;

/** Combinations of services, releases and environments that are read of a few hours. */
export const RELEASES_READ_MAX = 5_000;
