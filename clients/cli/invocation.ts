/** How the person runs this command, for lines that say what to type next. */
export function invocation(env: Readonly<Record<string, string | undefined>>): string {
  // Whoever runs a script of a package says so by these; both put the package's own programs on the path.
  if (env.npm_lifecycle_event === "bunx") return "bunx obs";
  if (env.npm_lifecycle_event === "obs") return "bun run obs";
  return "obs";
}

/** A word as a POSIX shell takes it for one. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
