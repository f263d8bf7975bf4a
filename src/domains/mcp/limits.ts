/** Bytes of a message of the protocol: the largest argument is a body, which has the same bound. */
export const MESSAGE_MAX_BYTES = 1024 * 1024;

/** Characters of a question for an operation: a sentence or two. */
export const QUESTION_MAX_CHARS = 500;

/** Bytes of a resource: the description of the API is the largest, of which there is a megabyte. */
export const RESOURCE_MAX_BYTES = 8 * 1024 * 1024;

/** Characters of an argument of a prompt: what a person types or pastes into a form. */
export const PROMPT_ARGUMENT_MAX_CHARS = 2000;
