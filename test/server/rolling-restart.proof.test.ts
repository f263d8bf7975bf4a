/** Servers that are stopped and started one after the other behind a balancer, with senders that notice nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Balancer, type HttpConnection } from "../harness/balanced-client.ts";
import { eventually } from "../harness/eventually.ts";
import { proofRounds } from "../harness/proof.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { storedMessages } from "../harness/stored-messages.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const RESTARTS = proofRounds({ sample: 2, whole: 10 });
/** Senders of each kind: on connections that are kept, and on a new one for each request. */
const SENDERS = 4;

let stores: TestStores;
const servers: { process: ServerProcess; directory: TemporaryDirectory }[] = [];

const start = (directory: TemporaryDirectory, port?: number): Promise<ServerProcess> =>
  startServer({
    dataDirectory: directory.path,
    ...(port !== undefined && { port }),
    env: { CLICKHOUSE_URL: stores.clickhouseUrl, DATABASE_URL: stores.postgresUrl, DRAIN_SECONDS: "3" },
  });

beforeAll(async () => {
  stores = await openTestStores();
  for (let index = 0; index < 2; index++) {
    const directory = temporaryDirectory();
    servers.push({ process: await start(directory), directory });
  }
});
afterAll(async () => {
  await Promise.all(
    servers.map(({ process }) => {
      process.kill("SIGINT");
      return process.exited;
    }),
  );
  for (const { directory } of servers) directory[Symbol.dispose]();
  await stores.close();
});

test(`${RESTARTS} rolling restarts under load fail no request, on kept connections and on new ones`, async () => {
  const balancer = new Balancer(
    servers.map(({ process }) => process.url),
    "/health/ingest",
  );
  await eventually("both take entries", () => balancer.healthy.size === 2);
  const [first] = servers;
  const token = await makeToken(first?.process.url ?? "");
  const head = [
    "POST /api/v1/logs/ingest HTTP/1.1",
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
  ];
  const acknowledged: string[] = [];
  const failures: string[] = [];
  let isOver = false;

  /** Sends until it is over; what does not end in an acknowledgement is a failure. */
  async function sender(name: string, keepsConnections: boolean): Promise<void> {
    let connection: HttpConnection | undefined;
    for (let count = 0; !isOver; count++) {
      const message = `${name} ${count}`;
      try {
        if (connection?.isOpen !== true || !keepsConnections) {
          connection?.close();
          connection = await balancer.connect();
        }
        const status = await connection.send(head, JSON.stringify({ message }));
        if (status === 202) acknowledged.push(message);
        else failures.push(`${message}: ${status}`);
      } catch (error) {
        failures.push(`${message}: ${String(error)}`);
        connection = undefined;
      }
      await Bun.sleep(5);
    }
    connection?.close();
  }

  const senders = Array.from({ length: SENDERS }, (_, index) => [
    sender(`kept ${index}`, true),
    sender(`new ${index}`, false),
  ]).flat();
  for (let restart = 0; restart < RESTARTS; restart++) {
    const server = servers[restart % servers.length];
    if (server === undefined) throw new Error("there are two servers");
    expect(await server.process.stop()).toBe(0);
    server.process = await start(server.directory, server.process.port);
    await eventually("both take entries again", () => balancer.healthy.size === 2);
  }
  isOver = true;
  await Promise.all(senders);
  balancer.close();
  expect(failures).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(0);
  await eventually(
    "everything is stored",
    async () => (await storedMessages(stores.clickhouse)).size >= acknowledged.length,
  );
  const stored = await storedMessages(stores.clickhouse);
  expect(acknowledged.filter((message) => stored.get(message) !== 1)).toEqual([]);
}, 600_000);
