/** Bounds of the forms in which people are named. */

/** The address limit of the wire contract, counted in code points. */
export const EMAIL_MAX_CHARS = 255;
/** RFC 5321 4.5.3.1.1, counted in UTF-8 octets. */
export const EMAIL_LOCAL_PART_MAX_BYTES = 64;
/** RFC 1035 2.3.4, counted in the ASCII form. */
export const DOMAIN_MAX_CHARS = 253;
