import { WINDOW_DEFAULT_SEC, WINDOW_MAX_SEC, WINDOW_MIN_SEC } from "./limits.ts";
import { type Place, SigmaRefusal } from "./problem.ts";
import { secondsOf } from "./values.ts";

/** Seconds of a window as rules have them. Throws SigmaRefusal. */
export function windowOf(text: string | null, at: Place): number {
  if (text === null) return WINDOW_DEFAULT_SEC;
  const seconds = secondsOf(text, at);
  if (seconds > WINDOW_MAX_SEC)
    throw new SigmaRefusal(at, "is longer than a day, which is the longest window.");
  return Math.max(WINDOW_MIN_SEC, seconds);
}
