/** A log store that cannot be reached: entries go on being acknowledged, wait in the log, and none is lost. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { IngestHistory } from "../harness/ingest-history.ts";
import { proofRounds } from "../harness/proof.ts";
import { isReady, makeToken, startServer } from "../harness/server-process.ts";
import { storedMessages } from "../harness/stored-messages.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { openTcpProxy, type TcpProxy } from "../harness/tcp-proxy.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const OUTAGE_MS = proofRounds({ sample: 4, whole: 30 }) * 1000;
let stores: TestStores;
let proxy: TcpProxy;

beforeAll(async () => {
  stores = await openTestStores();
  const { hostname, port } = new URL(stores.clickhouseEndpoint.origin);
  proxy = await openTcpProxy({ host: hostname, port: Number(port) });
});

afterAll(async () => {
  await proxy.close();
  await stores.close();
});

test("seconds without ClickHouse under load lose nothing, and no answer is a 5xx but 503", async () => {
  using directory = temporaryDirectory();
  const clickhouseUrl = new URL(stores.clickhouseUrl);
  clickhouseUrl.port = String(proxy.port);
  const server = await startServer({
    dataDirectory: directory.path,
    env: { CLICKHOUSE_URL: clickhouseUrl.href, DATABASE_URL: stores.postgresUrl },
  });
  const token = await makeToken(server.url);
  const history = new IngestHistory();
  history.start(4, () => ({ url: server.url, token }), { pauseMs: 5 });
  await eventually("entries reach the store", async () => (await storedMessages(stores.clickhouse)).size > 0);

  proxy.cut();
  const cutAt = performance.now();
  const acknowledgedBefore = history.acknowledged;
  await eventually("the server says that it is not ready", async () => !(await isReady(server.url)));
  await eventually("the outage has lasted", () => performance.now() - cutAt > OUTAGE_MS, OUTAGE_MS * 10);
  expect(history.acknowledged).toBeGreaterThan(acknowledgedBefore);
  proxy.restore();

  await eventually("the server is ready again", () => isReady(server.url));
  await history.stop();
  const { acknowledged } = history;
  await eventually(
    "the log is flushed",
    async () => (await storedMessages(stores.clickhouse)).size >= acknowledged,
  );
  expect(await server.stop()).toBe(0);
  expect(history.violations(await storedMessages(stores.clickhouse)).slice(0, 5)).toEqual([]);
  expect([...history.statuses.keys()].filter((status) => ![202, 503].includes(status))).toEqual([]);
});
