/** The receivers whose address holds a token, as the whole program runs them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { mintPersonalAccessToken } from "../../src/access/secret-token.ts";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const PATHS = ["platform-a", "platform-b", "stream-a"] as const;

let stores: TestStores;
let directory: TemporaryDirectory;
let server: ServerProcess;
let output = "";

const start = (port?: number): Promise<ServerProcess> =>
  startServer({
    dataDirectory: directory.path,
    ...(port !== undefined && { port }),
    env: { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl, LOG_LEVEL: "debug" },
  });

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  server = await start();
});
afterAll(async () => {
  await server.stop();
  await stores.close();
  directory[Symbol.dispose]();
});

function post(
  path: string,
  token: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${server.url}/api/v1/logs/ingest/${path}/${token}`, { method: "POST", headers, body });
}

async function restartAfterKill(): Promise<void> {
  const { port } = server;
  server.kill("SIGKILL");
  await server.exited;
  output += server.output();
  server = await start(port);
}

const FRAME = "<13>1 2026-11-21T10:00:00+00:00 host app web.1 - framed";

/** A request of each kind of sender that repeats its requests under an id of its own. */
const REPEATED: readonly (readonly [string, string, Record<string, string>])[] = [
  [
    "platform-a",
    JSON.stringify([
      { id: "log_1", projectId: "prj_1", timestamp: 1_795_255_200_000, message: "from the drain" },
    ]),
    {},
  ],
  [
    "platform-b",
    `${FRAME.length} ${FRAME}`,
    { "content-type": "application/logplex-1", "logplex-frame-id": "F1", "logplex-msg-count": "1" },
  ],
  [
    "stream-a",
    JSON.stringify({
      requestId: "R1",
      timestamp: 1,
      records: [{ data: Buffer.from(gzipSync('{"msg":"delivered"}')).toString("base64") }],
    }),
    { "X-Amz-Firehose-Request-Id": "R1" },
  ],
];

test("what was acknowledged is stored once when it is sent again after kill -9", async () => {
  const token = await makeToken(server.url);
  const sendAll = async (): Promise<boolean[]> =>
    Promise.all(REPEATED.map(async ([path, body, headers]) => (await post(path, token, body, headers)).ok));
  expect(await sendAll()).toEqual([true, true, true]);
  await restartAfterKill();
  expect(await sendAll()).toEqual([true, true, true]);
  // Entries become visible in the order in which they were accepted, so a repetition would be there before this one.
  expect((await post("platform-a", token, '{"message":"last"}')).ok).toBe(true);
  const messages = async (): Promise<string[]> => {
    const result = await stores.clickhouse.query({
      query: "SELECT message FROM logs ORDER BY message",
      format: "JSONEachRow",
    });
    return (await result.json<{ message: string }>()).map(({ message }) => message);
  };
  await eventually("the last entry is stored", async () => (await messages()).includes("last"));
  expect(await messages()).toEqual(["delivered", "framed", "from the drain", "last"]);
});

test("a token in an address or in a header of a sender reaches no line of the log", async () => {
  const good = await makeToken(server.url);
  const unknown = mintPersonalAccessToken();
  const malformed = "obs_malformed-secret";
  const tokens = [good, unknown, malformed, encodeURIComponent(`${good}%`)];
  const statuses = new Set<number>();
  for (const token of tokens) {
    for (const path of PATHS) {
      for (const body of ['[{"message":"a"}]', "<html>", "\u0000"])
        statuses.add((await post(path, token, body)).status);
      statuses.add((await post(`${path}/deeper`, token, "{}")).status);
      statuses.add((await post(path, `${token}/`, "{}")).status);
      statuses.add((await post(path, `${token}?q=${token}`, "{}")).status);
      const url = `${server.url}/api/v1/logs/ingest/${path}/${token}`;
      for (const method of ["GET", "HEAD", "PUT", "DELETE"])
        statuses.add((await fetch(url, { method })).status);
    }
    const key = { "X-Amz-Firehose-Request-Id": "r", "X-Amz-Firehose-Access-Key": token };
    statuses.add((await post("stream-a", "key", "{", key)).status);
  }
  // Whatever can become of a request is among them.
  expect([...statuses].toSorted()).toEqual([200, 202, 400, 401, 404, 405]);
  const lines = (): string => output + server.output();
  await eventually("the last requests are logged", () =>
    lines().includes("/api/v1/logs/ingest/stream-a/:token"),
  );
  for (const token of tokens) {
    const secret = token.replace(/^obs_/, "").slice(0, 12);
    expect(lines().includes(secret)).toBe(false);
  }
});
