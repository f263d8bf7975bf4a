import { expect, test } from "bun:test";
import { join } from "node:path";

const SERVER = join(import.meta.dir, "../../src/server");
/** What has no path under /api/v1: clients of other systems speak to it, and people's browsers. */
const OF_OTHER_CLIENTS = ["elasticsearchRoutes", "lokiRoutes", "opsRoutes", "splunkRoutes"];

async function namesIn(file: string, pattern: RegExp): Promise<string[]> {
  const text = await Bun.file(join(SERVER, file)).text();
  return [...text.matchAll(pattern)].map((match) => match[1] ?? "").toSorted();
}

test("every route function of the application is in the table that clients have their types from", async () => {
  const typed = await namesIn("api-table.ts", /typeof (\w+Routes)/g);
  const called = await namesIn("app.ts", /\b(\w+Routes)\(/g);
  expect([...typed, ...OF_OTHER_CLIENTS].toSorted()).toEqual(called);
});
