import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parseSecretKey, SecretBox } from "../../src/access/secret-box.ts";
import { openSecretBox } from "../../src/storage/load-secret-key.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const KEY = new Uint8Array(32).fill(9);
const OTHER_KEY = new Uint8Array(32).fill(10);

describe("a sealed secret", () => {
  const box = new SecretBox(KEY);

  test("opens as it was, whatever it is, and looks different every time", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const sealed = box.seal(text, "test");
        expect(box.open(sealed, "test")).toBe(text);
        expect(Buffer.compare(sealed, box.seal(text, "test"))).not.toBe(0);
      }),
    );
  });

  test("does not open with another key, for another purpose, or changed in any bit", () => {
    const sealed = box.seal("a secret", "test");
    expect(() => new SecretBox(OTHER_KEY).open(sealed, "test")).toThrow();
    expect(() => box.open(sealed, "other")).toThrow();
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => box.open(changed, "test")).toThrow();
    }
    for (let length = 0; length < sealed.length; length++)
      expect(() => box.open(sealed.subarray(0, length), "test")).toThrow();
  });
});

test("a key is 32 bytes in base64, base64url or hexadecimal, and nothing else is one", () => {
  for (const encoding of ["base64", "base64url", "hex"] as const)
    expect(parseSecretKey(Buffer.from(KEY).toString(encoding))).toEqual(Buffer.from(KEY));
  for (const text of ["", "short", "a".repeat(63), "a".repeat(65), `${"a".repeat(42)}!`, "é".repeat(43)])
    expect(parseSecretKey(text)).toBeNull();
});

describe("the key of a server", () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await openTestStores();
  });
  afterAll(() => stores.close());

  test("is made once, kept in a file only its owner reads, and the same at the next start", async () => {
    using directory = temporaryDirectory();
    await stores.postgres`DELETE FROM secret_key`;
    const sealed = (await openSecretBox(stores.postgres, null, directory.path)).seal("x", "test");
    const path = join(directory.path, "secret.key");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await openSecretBox(stores.postgres, null, directory.path)).open(sealed, "test")).toBe("x");
  });

  test("must be the one the database's secrets are encrypted with", async () => {
    using directory = temporaryDirectory();
    await stores.postgres`DELETE FROM secret_key`;
    await openSecretBox(stores.postgres, KEY, directory.path);
    await expect(openSecretBox(stores.postgres, OTHER_KEY, directory.path)).rejects.toThrow("SECRET_KEY");
    // An instance with a data directory of its own and no configured key.
    await expect(openSecretBox(stores.postgres, null, directory.path)).rejects.toThrow("SECRET_KEY");
    // Which has left no key behind that would be taken for the right one.
    await expect(openSecretBox(stores.postgres, null, directory.path)).rejects.toThrow("SECRET_KEY");
    await openSecretBox(stores.postgres, KEY, directory.path);
  });

  test("that is damaged or gone stops the start and says to restore it", async () => {
    using directory = temporaryDirectory();
    await stores.postgres`DELETE FROM secret_key`;
    await openSecretBox(stores.postgres, null, directory.path);
    const path = join(directory.path, "secret.key");
    writeFileSync(path, "nonsense\n");
    await expect(openSecretBox(stores.postgres, null, directory.path)).rejects.toThrow(
      "restore it from a backup",
    );
    rmSync(path);
    await expect(openSecretBox(stores.postgres, null, directory.path)).rejects.toThrow("SECRET_KEY");
  });
});
