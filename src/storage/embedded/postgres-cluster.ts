import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { syncDirectory } from "../write-durably.ts";
import type { Account } from "./postgres-account.ts";

/** The folder `<data>/postgres` and the way Postgres' processes refer to it. */
export interface PostgresHome {
  readonly directory: string;
  /** The same folder as seen by a Postgres process, which gets it as descriptor 3. */
  readonly reference: string;
  /** Program files: `bin`, `lib`, `share`. */
  readonly native: string;
  readonly account: Account | null;
  readonly environment: Readonly<Record<string, string>>;
}

interface PostgresRoles {
  readonly superuserPassword: string;
  /** Role and database of the server. */
  readonly name: string;
  readonly password: string;
}

async function runProgram(home: PostgresHome, command: readonly string[], input: string): Promise<void> {
  const directory = openSync(home.directory, "r");
  try {
    const child = Bun.spawn([...command], {
      cwd: "/",
      env: { ...home.environment },
      stdio: [Buffer.from(input), "pipe", "pipe", directory],
      ...(home.account === null ? {} : { uid: home.account.uid, gid: home.account.gid }),
    });
    const [output, errors, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    // A single-user backend reports a failed statement and still ends with 0.
    if (exitCode !== 0 || /^.*\b(?:ERROR|FATAL|PANIC):/m.test(errors)) {
      throw new Error(`Postgres cannot be set up: ${errors.trim() || output.trim()}`);
    }
  } finally {
    closeSync(directory);
  }
}

/**
 * Makes `<home>/cluster` with the server's role and database, unless it exists. It is made under another name and
 * renamed when it is whole, so a death half-way leaves nothing that looks like a database.
 */
export async function createCluster(home: PostgresHome, roles: PostgresRoles): Promise<void> {
  if (existsSync(join(home.directory, "cluster"))) return;
  for (const entry of readdirSync(home.directory)) {
    if (entry.startsWith("new-")) rmSync(join(home.directory, entry), { recursive: true, force: true });
  }
  const work = `new-${randomBytes(4).toString("hex")}`;
  const workDirectory = join(home.directory, work);
  mkdirSync(workDirectory, { mode: 0o700 });
  const passwordFile = join(workDirectory, "password");
  writeFileSync(passwordFile, `${roles.superuserPassword}\n`, { mode: 0o600 });
  if (home.account !== null) {
    chownSync(workDirectory, home.account.uid, home.account.gid);
    chownSync(passwordFile, home.account.uid, home.account.gid);
  }
  const reference = `${home.reference}/${work}`;
  await runProgram(
    home,
    [
      join(home.native, "bin", "initdb"),
      `--pgdata=${reference}/cluster`,
      "--username=postgres",
      `--pwfile=${reference}/password`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      // Unicode rules for case and character classes, the same on every machine, independent of its C library.
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-sync",
    ],
    "",
  );
  const backend = [join(home.native, "bin", "postgres"), "--single", "-j", "-D", `${reference}/cluster`];
  // An empty line ends a statement.
  await runProgram(
    home,
    [...backend, "-c", "log_min_messages=error", "-c", "fsync=off", "postgres"],
    `CREATE ROLE ${roles.name} LOGIN PASSWORD '${roles.password}';\n\nCREATE DATABASE ${roles.name} OWNER ${roles.name};\n\n`,
  );
  // Once for all: file by file, a thousand of them, takes ten seconds on a busy disk.
  const syncMethod = process.platform === "linux" ? ["--sync-method=syncfs"] : [];
  const initdb = join(home.native, "bin", "initdb");
  await runProgram(home, [initdb, "--sync-only", ...syncMethod, `--pgdata=${reference}/cluster`], "");
  renameSync(join(workDirectory, "cluster"), join(home.directory, "cluster"));
  for (const level of [home.directory, dirname(home.directory)]) await syncDirectory(level);
  rmSync(workDirectory, { recursive: true, force: true });
}
