/** The bounds of reading the graph; each says why it has its value. */

/** Neighbours of an answer: what a person looks at. The others are counted. */
export const NEIGHBORS_MAX = 200;
export const NEIGHBORS_DEFAULT = 50;

/** Links of one entity to incidents, and to indicators, that are read; of one that has more, those that were seen last are counted. */
export const LINKS_MAX = 10_000;

/** Incidents that risk is made of: older ones weigh next to nothing. */
export const RISK_MAX_TERMS = 100;
