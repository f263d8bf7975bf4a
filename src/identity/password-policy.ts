import { validationFailed } from "../errors.ts";
import commonPasswords from "./common-passwords.txt" with { type: "text" };

/**
 * The 3000 passwords of at least 12 characters that leaks contain most often, lower-cased (from the list of ten
 * million passwords in SecLists, MIT). Guessing starts with these, and no delay outlasts a list this short.
 */
const COMMON = new Set(commonPasswords.trimEnd().split("\n"));

/**
 * Refuses a new password that is among the first to be guessed: one of the most common, in any case, or the person's
 * own address. Length is the schema's matter, and no kinds of characters are asked for. Throws VALIDATION_FAILED.
 */
export function requireUncommonPassword(password: string, path: string, email: string): void {
  const folded = password.normalize("NFKC").toLowerCase();
  if (COMMON.has(folded)) throw weak(path, "is one of the most common passwords; choose another one");
  if (folded === email) throw weak(path, "must not be the email address");
}

function weak(path: string, message: string): Error {
  return validationFailed([{ path, code: "custom", message }], `The password ${message}.`);
}
