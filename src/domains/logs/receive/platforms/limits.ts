/** The body of a delivery, packed or not: what the sender's documentation allows. Beyond it the sender is misconfigured. */
export const DELIVERY_MAX_BYTES = 64 * 1024 * 1024;

/** One unpacked record of a delivery: records have 1 MB packed at most, and logs pack to a tenth. */
export const RECORD_UNPACKED_MAX_BYTES = 16 * 1024 * 1024;

/** All unpacked records of a delivery, and what was unpacked in vain: bounds the work and the memory of a request. */
export const DELIVERY_UNPACKED_MAX_BYTES = 96 * 1024 * 1024;

/** Unpacked bytes that are stored at a time: about one batch of the write-ahead log. */
export const PORTION_BYTES = 4 * 1024 * 1024;

/** Bytes that what a delivery says about all of its entries may take in a portion, where every entry repeats it. */
export const PORTION_ATTRIBUTES_BYTES = 8 * 1024 * 1024;

/** Bytes unpacked and looked at between two turns of the event loop: other requests wait for some milliseconds. */
export const TURN_BYTES = 1024 * 1024;

/** Bytes that are looked at in the time which a record takes besides, however short it is. */
export const RECORD_WORK_BYTES = 512;
/** The same of a short one that has to be unpacked. */
export const UNPACKING_WORK_BYTES = 16 * 1024;

/** How many times its size a deflate stream can unpack to at most. Source: zlib, "Technical Details". */
export const DEFLATE_MAX_RATIO = 1032;

/** How long a change of an organisation's settings may go unnoticed by other instances; as long as a revoked token. */
export const SETTINGS_CACHE_LIFE_MS = 1_000;
/** Organisations whose settings are remembered. */
export const SETTINGS_CACHE_MAX = 10_000;

export const SIGNING_SECRET_MIN_CHARS = 8;
export const SIGNING_SECRET_MAX_CHARS = 512;
export const VERIFICATION_CODE_MAX_CHARS = 128;

/** Characters of a message to a delivery stream, by its documentation. */
export const ERROR_MESSAGE_MAX_CHARS = 8192;
