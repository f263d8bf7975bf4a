/** A fault that nobody catches, in the process of the real program. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { makeToken, startServer } from "../../harness/server-process.ts";
import { storedMessages } from "../../harness/stored-messages.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const preload = join(import.meta.dir, "provoked-fault.ts");
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

describe("a fault that nobody catches", () => {
  test.each([
    ["exception", "SIGUSR2"],
    ["rejection", "SIGWINCH"],
  ] as const)("stops the server in order: %s", async (kind, signal) => {
    using directory = temporaryDirectory();
    const env = { CLICKHOUSE_URL: stores.clickhouseUrl, DATABASE_URL: stores.postgresUrl };
    const server = await startServer({ dataDirectory: directory.path, env, preload });
    const response = await fetch(`${server.url}/api/v1/logs/ingest`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${await makeToken(server.url)}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ message: `before the ${kind}` }),
    });
    expect(response.status).toBe(202);
    server.kill(signal);
    expect(await server.exited).toBe(1);
    const [fatal, ...others] = server
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ level }) => level === 60);
    expect(others).toEqual([]);
    expect(fatal).toMatchObject({
      kind,
      err: { message: `provoked ${kind}`, stack: expect.stringContaining("provoked-fault.ts") },
    });
    // What was acknowledged has reached the store on the way out.
    expect((await storedMessages(stores.clickhouse)).get(`before the ${kind}`)).toBe(1);
  });
});
