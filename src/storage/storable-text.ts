/**
 * Whether Postgres takes a text as it is: its text has no null character, its jsonb besides no half of a surrogate pair.
 * Source: PostgreSQL manual, "JSON Types".
 */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** The text with U+FFFD for what Postgres does not take. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}
