import type { Account } from "./postgres-account.ts";

/** What the server tells the process that watches over Postgres. */
interface PostgresLaunch {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Handed to Postgres as descriptor 3. */
  readonly directory: string;
  readonly account: Account | null;
}

export function formatPostgresLaunch(launch: PostgresLaunch): string {
  return JSON.stringify(launch);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseAccount(value: unknown): Account | null {
  if (!isRecord(value)) return null;
  return { uid: Number(value.uid), gid: Number(value.gid) };
}

/** The inverse of `formatPostgresLaunch`. Throws when the text is something else. */
export function parsePostgresLaunch(text: string): PostgresLaunch {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || !Array.isArray(value.command) || !isRecord(value.environment)) {
    throw new Error("postgres-child.ts takes the JSON the server makes.");
  }
  return {
    command: value.command.map(String),
    environment: Object.fromEntries(
      Object.entries(value.environment).map(([name, content]) => [name, String(content)]),
    ),
    directory: String(value.directory),
    account: parseAccount(value.account),
  };
}
