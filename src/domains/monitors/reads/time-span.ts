import { validationFailed } from "../../../errors.ts";
import type { Span } from "../../../uptime/spans.ts";

/** The time that is asked for; without a beginning the `lengthMs` before the end. Throws VALIDATION_FAILED for none at all. */
export function spanOf(
  { from, to }: { readonly from?: string; readonly to?: string },
  nowMs: number,
  lengthMs: number,
): Span {
  const toMs = to === undefined ? nowMs : Date.parse(to);
  const fromMs = from === undefined ? toMs - lengthMs : Date.parse(from);
  if (toMs > fromMs) return { fromMs, toMs };
  throw validationFailed([
    { path: to === undefined ? "/from" : "/to", code: "custom", message: "the time ends before it begins" },
  ]);
}
