import type { JsonRecord } from "../../api/json.ts";
import { isRecord } from "../../api/json.ts";
import { escapeControls } from "../terminal/escape-controls.ts";

/** What an answer says of itself beside its entries or rows: that something is missing, and why. */
export function noticesOf(answer: JsonRecord): string[] {
  const warnings: unknown[] = Array.isArray(answer.warnings) ? answer.warnings : [];
  const notices = warnings.flatMap((warning) => {
    if (typeof warning === "string") return [escapeControls(warning)];
    return isRecord(warning) && typeof warning.message === "string" ? [escapeControls(warning.message)] : [];
  });
  if (answer.partial === true && notices.length === 0)
    notices.push("a part of the store did not answer: entries may be missing");
  return notices;
}
