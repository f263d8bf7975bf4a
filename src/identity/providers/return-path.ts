import { validationFailed } from "../../errors.ts";
import { RETURN_PATH_MAX_CHARS } from "./limits.ts";

/**
 * The path of our own to which a sign-in leads, "/" when none is asked for. Throws VALIDATION_FAILED for everything a
 * browser could read as another site: two slashes or a backslash at the start, a scheme, control characters.
 */
export function requireReturnPath(text: string | undefined, publicUrl: string): string {
  if (text === undefined) return "/";
  // Browsers drop tabs and line ends from addresses and read a backslash as a slash.
  const isPath =
    text.length <= RETURN_PATH_MAX_CHARS &&
    /^\/(?!\/)[^\\\p{Cc}\p{Cs}]*$/u.test(text) &&
    staysHere(text, publicUrl);
  if (isPath) return text;
  throw validationFailed([
    { path: "/returnTo", code: "invalid_string", message: "must be a path of this server, such as /logs" },
  ]);
}

/** The address of such a path, never of another origin. */
export function returnUrl(path: string, publicUrl: string): string {
  const url = new URL(path, publicUrl);
  if (url.origin !== new URL(publicUrl).origin) throw new Error("a path of our own leads elsewhere");
  return url.href;
}

function staysHere(text: string, publicUrl: string): boolean {
  const url = URL.parse(text, publicUrl);
  // Dot segments may leave a path that would be another host's to whoever writes it without its origin.
  return url !== null && url.origin === new URL(publicUrl).origin && !url.pathname.startsWith("//");
}
