/** The bounds of what an error is known by; each says why it has its value. */

/** Frames that a group is known by: the innermost ones say where it failed, those further out how the program got there. */
export const KEY_FRAMES_MAX = 8;

/** Characters of a message that its form is made of. */
export const FORM_MAX_CHARS = 2_000;

/** Characters of a title, a type, a culprit, and of a message that is kept with a group. */
export const TITLE_MAX_CHARS = 300;
export const TYPE_MAX_CHARS = 200;
export const CULPRIT_MAX_CHARS = 300;
export const MESSAGE_MAX_CHARS = 1_000;

/** Characters of an object in an attribute that are read as JSON. */
export const OBJECT_MAX_CHARS = 65_536;
