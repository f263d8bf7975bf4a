/** The bounds of reading records by their shapes. Every number says what it protects. */

/** Positions in all shapes of a table; after as many it is begun anew. Logs have some hundred, each with a short name. */
export const SHAPE_NODES_MAX = 16_384;
/** Names that may follow at one position: they are tried one after the other, and the rarest gives way. */
export const SHAPE_BRANCHES_MAX = 16;
/** Members of a shape: a record of more is taken apart with the bounds of an entry in mind. */
export const SHAPE_MEMBERS_MAX = 200;
/** Bytes of a name with those of the objects around it: a longer one might have to be cut. */
export const SHAPE_NAME_MAX_BYTES = 255;
/** Of so many records one may be learnt at most, so that names that never come again cost little; and how many are saved up. */
export const LEARNING_COST = 8;
export const LEARNING_SAVED_MAX = 1024;
/** Bytes of a record: as many as are parsed without looking at their shape first. */
export const PLAIN_MAX_BYTES = 64 * 1024;
