import { validationFailed } from "../errors.ts";

/** From there on turns are looked ahead, which must not lead out of the calendar. */
const LATEST_MS = Date.parse("3000-01-01T00:00:00Z");

/** Throws VALIDATION_FAILED at `path` where turns are asked for outside of the times there may be some, in milliseconds since 1970. */
export function requireAskable(path: string, fromMs: number, toMs = fromMs): void {
  if (fromMs < 0 || toMs > LATEST_MS)
    throw validationFailed([{ path, code: "custom", message: "must lie between 1970 and 3000" }]);
}
