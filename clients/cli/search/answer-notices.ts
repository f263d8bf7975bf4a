import { isRecord } from "../../api/json.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { formatCountOf } from "../terminal/quantities.ts";

/** What an answer says of itself beside its entries or rows: that something is missing, and why. */
export function noticesOf(answer: Readonly<Record<string, unknown>>): string[] {
  const warnings: unknown[] = Array.isArray(answer.warnings) ? answer.warnings : [];
  const notices = warnings.flatMap((warning) => {
    if (typeof warning === "string") return [escapeControls(warning)];
    return isRecord(warning) && typeof warning.message === "string" ? [escapeControls(warning.message)] : [];
  });
  if (answer.partial === true && notices.length === 0)
    notices.push("a part of the store did not answer: entries may be missing");
  return notices;
}

/** How much of the archive an answer was made of, in words behind others; empty for nothing. */
export function archiveInWords(stats: unknown): string {
  const archive = isRecord(stats) ? stats.archive : undefined;
  if (!isRecord(archive)) return "";
  const [files, rows] = [Number(archive.files), Number(archive.rows)];
  if (!Number.isSafeInteger(files) || !Number.isSafeInteger(rows) || files <= 0) return "";
  return `, ${formatCountOf(files, "archived file")} of ${formatCountOf(rows, "entry", "entries")}`;
}
