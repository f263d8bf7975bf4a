/** A text as KQL writes it. */
export function quoted(text: string): string {
  const escaped = text
    .replace(/["\\]/g, "\\$&")
    .replace(
      /\p{Cc}|\u2028|\u2029/gu,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  return `"${escaped}"`;
}
