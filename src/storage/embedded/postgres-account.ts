import { readFileSync } from "node:fs";

/** The account Postgres runs as when the server runs as root, which Postgres refuses to do. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const ACCOUNT_NAME = "postgres";

function lookUpAccount(passwd: string): Account | null {
  for (const line of passwd.split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name === ACCOUNT_NAME && uid !== undefined && gid !== undefined) {
      return { uid: Number(uid), gid: Number(gid) };
    }
  }
  return null;
}

/**
 * Null for an ordinary user: Postgres then runs as the same one. For root, the system's account `postgres`,
 * which is created when there is none.
 */
export function postgresAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  if (process.platform !== "linux") {
    throw new Error(
      "Postgres does not run as root: start the server as an ordinary user, or set DATABASE_URL.",
    );
  }
  const existing = lookUpAccount(readFileSync("/etc/passwd", "utf8"));
  if (existing !== null) return existing;
  const created = Bun.spawnSync(
    ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT_NAME],
    { env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } },
  );
  const account = lookUpAccount(readFileSync("/etc/passwd", "utf8"));
  if (account === null) {
    throw new Error(
      `Postgres does not run as root, and its account "${ACCOUNT_NAME}" cannot be created ` +
        `(${created.stderr.toString().trim()}): start the server as an ordinary user, or set DATABASE_URL.`,
    );
  }
  return account;
}
