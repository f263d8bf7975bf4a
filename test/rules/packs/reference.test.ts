import { expect, test } from "bun:test";
import { join } from "node:path";
import { renderDetections } from "../../../src/rules/packs/reference.ts";

const FILE = join(import.meta.dir, "../../../docs/detections.md");

/** `RECORD=1 bun test test/rules/packs` writes the file anew. */
test("docs/detections.md is what the catalogue says", async () => {
  if (Bun.env.RECORD === "1") await Bun.write(FILE, renderDetections());
  expect(await Bun.file(FILE).text()).toBe(renderDetections());
});
