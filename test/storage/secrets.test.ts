import { expect, test } from "bun:test";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSecrets } from "../../src/storage/embedded/secrets.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

test("credentials are made once, differ between data directories, and only the owner can read them", () => {
  using one = temporaryDirectory();
  using other = temporaryDirectory();
  const secrets = loadSecrets(one.path);
  expect(loadSecrets(one.path)).toEqual(secrets);
  expect(new Set([...Object.values(secrets), ...Object.values(loadSecrets(other.path))]).size).toBe(8);
  expect(secrets.clickhousePassword).toHaveLength(48);
  expect(statSync(join(one.path, "secrets.json")).mode & 0o777).toBe(0o600);
});

test("a damaged file is refused and left as it is", () => {
  using directory = temporaryDirectory();
  for (const text of [
    "",
    "{",
    "[]",
    "null",
    '{"instance":"abcdefgh"}',
    '{"instance":"\'; DROP ROLE obs; --"}',
  ]) {
    writeFileSync(join(directory.path, "secrets.json"), text);
    expect(() => loadSecrets(directory.path)).toThrow("secrets.json is damaged: restore it from a backup");
  }
});

test("no new passwords are made for a Postgres that was set up with others", () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "postgres", "cluster"), { recursive: true });
  expect(() => loadSecrets(directory.path)).toThrow("secrets.json is missing");
});
