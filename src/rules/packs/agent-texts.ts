/** What is looked for in the texts of agents and their tools, as regular expressions: by the rules of the pack and by who asks for findings. */

/** Keys that can be told by their form. */
export const SECRET =
  "(AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|xox[abprs]-[A-Za-z0-9-]{10,}|obs_[A-Za-z0-9_-]{43}|-----BEGIN [A-Z ]*PRIVATE KEY)";

/** Texts that tell a reader what to do. */
export const INSTRUCTIONS =
  "(?i)(ignore|disregard|forget) (all |any )?(the |your )?(previous|above|prior|earlier) (instructions|messages|rules)|disregard the above|you are now |do not tell the user";

/** One of these stands in each of them, so that few texts are held against the expression. */
export const INSTRUCTIONS_HOLD = [
  "instructions",
  "messages",
  "rules",
  "disregard the above",
  "you are now ",
  "do not tell the user",
];
