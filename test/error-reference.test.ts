import { expect, test } from "bun:test";
import { join } from "node:path";
import { renderErrorReference } from "../src/error-reference.ts";

const FILE = join(import.meta.dir, "../docs/errors.md");

/** `RECORD=1 bun test test/error-reference.test.ts` writes the file anew. */
test("docs/errors.md is what the registry of error codes says", async () => {
  if (Bun.env.RECORD === "1") await Bun.write(FILE, renderErrorReference());
  expect(await Bun.file(FILE).text()).toBe(renderErrorReference());
});
