/** The bounds of silences; each says why it has its value. */

/** Silences of an organisation: each incident that opens is compared with those that hold. */
export const SILENCES_MAX = 500;

/** Who wants to hear nothing for longer switches the rule off. */
export const SILENCE_MAX_MS = 366 * 86_400_000;

/** How long one that is over is still listed: somebody may ask why nobody was told. */
export const SILENCES_KEPT_MS = 30 * 86_400_000;
