/** What the commands need, with what models read by `obs mcp`, and what tokens for monitors are made with: a token gives no scope that it lacks. */
export const CLI_SCOPES: readonly string[] = [
  "logs:read",
  "logs:write",
  "sources:read",
  "sources:write",
  "monitors:read",
  "monitors:write",
  "incidents:read",
  "incidents:write",
  "alerts:read",
  "alerts:write",
  "metrics:read",
  "security:read",
  "security:write",
  "on-call:read",
  "maintenance:read",
  "status-pages:read",
  "account:read",
  "tokens:write",
];

/** Those of them that change nothing. */
export const READING_SCOPES = CLI_SCOPES.filter((scope) => scope.endsWith(":read"));

/** What a token with the scopes may do, for a person who is about to make it. */
export function scopesInWords(scopes: readonly string[]): string {
  const written = placesOf(scopes, "write");
  const read = placesOf(scopes, "read").filter((place) => !written.includes(place));
  const may = [
    ...(read.length > 0 ? [`read ${read.join(", ")}`] : []),
    ...(written.length > 0 ? [`read and change ${written.join(", ")}`] : []),
  ];
  return `The token may ${may.join("; ")}.`;
}

function placesOf(scopes: readonly string[], verb: string): string[] {
  return scopes.flatMap((scope) => {
    const [place = "", may] = scope.split(":");
    return may === verb ? [place] : [];
  });
}
