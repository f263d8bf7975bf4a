import { expect, test } from "bun:test";
import { join } from "node:path";
import { renderKqlReference } from "../../../src/domains/kql/reference.ts";

const FILE = join(import.meta.dir, "../../../docs/kql.md");

/** `RECORD=1 bun test test/domains/kql/reference.test.ts` writes the file anew. */
test("docs/kql.md is what the compiler's tables say", async () => {
  if (Bun.env.RECORD === "1") await Bun.write(FILE, renderKqlReference());
  expect(await Bun.file(FILE).text()).toBe(renderKqlReference());
});
