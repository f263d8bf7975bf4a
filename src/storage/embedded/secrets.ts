import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "../write-durably.ts";

/** Credentials of the embedded engines, made once for a data directory and known to nobody else. */
export interface EngineSecrets {
  /** Tells this data directory's processes from those of another one. */
  readonly instance: string;
  readonly clickhousePassword: string;
  readonly postgresPassword: string;
  readonly postgresSuperuserPassword: string;
}

const FIELDS = ["instance", "clickhousePassword", "postgresPassword", "postgresSuperuserPassword"] as const;

function parseSecrets(text: string, path: string): EngineSecrets {
  const invalid = () =>
    new Error(`${path} is damaged: restore it from a backup, the embedded engines' passwords are in it.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw invalid();
  }
  if (typeof parsed !== "object" || parsed === null) throw invalid();
  const found = new Map<string, unknown>(Object.entries(parsed));
  const field = (name: (typeof FIELDS)[number]): string => {
    const value = found.get(name);
    if (typeof value !== "string" || !/^[A-Za-z0-9]{8,}$/.test(value)) throw invalid();
    return value;
  };
  return {
    instance: field("instance"),
    clickhousePassword: field("clickhousePassword"),
    postgresPassword: field("postgresPassword"),
    postgresSuperuserPassword: field("postgresSuperuserPassword"),
  };
}

/**
 * Reads `secrets.json` of a data directory, or creates it readable by its owner only. Call it with the directory locked.
 * Refuses to make new passwords for engines that were set up with others.
 */
export function loadSecrets(dataDirectory: string): EngineSecrets {
  const path = join(dataDirectory, "secrets.json");
  if (existsSync(path)) return parseSecrets(readFileSync(path, "utf8"), path);
  if (existsSync(join(dataDirectory, "postgres", "cluster"))) {
    throw new Error(
      `${path} is missing, but the embedded Postgres was set up with it: restore it from a backup.`,
    );
  }
  const secrets: EngineSecrets = {
    instance: randomBytes(6).toString("hex"),
    clickhousePassword: randomBytes(24).toString("hex"),
    postgresPassword: randomBytes(24).toString("hex"),
    postgresSuperuserPassword: randomBytes(24).toString("hex"),
  };
  writeDurably(path, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}
