/** What a server that was told to stop says while it still answers, and how the wait is cut short. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HttpConnection } from "../harness/balanced-client.ts";
import { eventually } from "../harness/eventually.ts";
import { makeToken, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** Longer than any test. */
const LONG = "600";

const start = (dataDirectory: string, drainSeconds: string) =>
  startServer({
    dataDirectory,
    env: {
      CLICKHOUSE_URL: stores.clickhouseUrl,
      DATABASE_URL: stores.postgresUrl,
      DRAIN_SECONDS: drainSeconds,
    },
  });

describe("a server that drains", () => {
  test("says so to balancers and answers everybody, each connection once more, until SIGINT cuts it short", async () => {
    using directory = temporaryDirectory();
    const server = await start(directory.path, LONG);
    const token = await makeToken(server.url);
    const head = ["GET /api/v1/me HTTP/1.1", `Authorization: Bearer ${token}`];
    const kept = await HttpConnection.open(server.url);
    expect(await kept.send(head, "")).toBe(200);
    expect(kept.isOpen).toBe(true);

    server.kill("SIGTERM");
    const statusOf = async (path: string) => (await fetch(`${server.url}${path}`)).status;
    await eventually("it drains", async () => (await statusOf("/health/ready")) === 503);
    expect(await statusOf("/health/ingest")).toBe(503);
    expect(await statusOf("/health/live")).toBe(200);
    // A connection from before is answered, and closed by the answer.
    expect(await kept.send(head, "")).toBe(200);
    expect(kept.isOpen).toBe(false);
    // So is one that comes now. A second SIGTERM changes nothing.
    server.kill("SIGTERM");
    const late = await HttpConnection.open(server.url);
    expect(await late.send(head, "")).toBe(200);
    expect(late.isOpen).toBe(false);

    server.kill("SIGINT");
    expect(await server.exited).toBe(0);
  });

  test("is not what SIGINT asks for, nor SIGTERM where nobody balances", async () => {
    using directory = temporaryDirectory();
    const patient = await start(directory.path, LONG);
    patient.kill("SIGINT");
    expect(await patient.exited).toBe(0);
    const alone = await start(directory.path, "0");
    expect(await alone.stop()).toBe(0);
  });
});
