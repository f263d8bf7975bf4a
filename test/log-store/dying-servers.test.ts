/** Two servers on one table, killed again and again while columns of attributes and the index of words come to be. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { proofRounds } from "../harness/proof.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const KILLS = proofRounds({ sample: 2, whole: 30 });
const KEYS = ["host", "status", "user"];
const BATCH = 200;

let stores: TestStores;
let directories: TemporaryDirectory[];
let servers: ServerProcess[];

const start = (place: number, port?: number): Promise<ServerProcess> =>
  startServer({
    dataDirectory: directories[place]?.path ?? "",
    ...(port !== undefined && { port }),
    env: { CLICKHOUSE_URL: stores.clickhouseUrl, DATABASE_URL: stores.postgresUrl },
  });

beforeAll(async () => {
  stores = await openTestStores();
  directories = [temporaryDirectory(), temporaryDirectory()];
  servers = [await start(0), await start(1)];
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  for (const directory of directories) directory[Symbol.dispose]();
  await stores.close();
});

async function post(server: ServerProcess, token: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${server.url}/api/v1/logs/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

function rowsIn(answer: unknown): unknown {
  return typeof answer === "object" && answer !== null ? Reflect.get(answer, "rows") : null;
}

test(`answers stay the same through ${KILLS} deaths`, async () => {
  const [first] = servers;
  if (first === undefined) throw new Error("no server");
  const token = await makeToken(first.url);
  let stored = 0;
  const send = async (server: ServerProcess): Promise<void> => {
    const entries = Array.from({ length: BATCH }, (_, i) => ({
      message: `entry ${stored + i}`,
      attrs: { host: `h${i % 4}`, status: i % 2 === 0 ? 200 : "500", user: { name: `u${i % 5}` } },
    }));
    await post(server, token, "ingest", entries);
    stored += BATCH;
  };
  const expectAnswers = async (server: ServerProcess): Promise<void> => {
    const query =
      "logs | where attrs.status in (200, '500') | summarize n = count(), of200 = countif(attrs.status == 200) by host = tostring(attrs.host) | sort by host asc";
    const name = "logs | summarize n = count() by name = tostring(attrs.user.name) | sort by name asc";
    const quarter = stored / 4;
    const expected = ["h0", "h1", "h2", "h3"].map((host, i) => [host, quarter, i % 2 === 0 ? quarter : 0]);
    await eventually("all entries are found", async () =>
      Bun.deepEquals(rowsIn(await post(server, token, "query", { query })), expected),
    );
    expect(rowsIn(await post(server, token, "query", { query: name }))).toEqual(
      ["u0", "u1", "u2", "u3", "u4"].map((user) => [user, stored / 5]),
    );
    const word = "logs | where message has 'entry' and message !has 'other' | count";
    expect(rowsIn(await post(server, token, "query", { query: word }))).toEqual([[stored]]);
  };
  await send(first);
  await expectAnswers(first);
  for (const key of KEYS)
    await stores.postgres`
      INSERT INTO log_attribute_usage (key, asks, cost_ms, last_asked_at) VALUES (${key}, 1000, 1000000, now())`;
  for (let kill = 0; kill < KILLS; kill++) {
    const dying = kill % 2;
    const [victim, other] = [servers[dying], servers[1 - dying]];
    if (victim === undefined || other === undefined) throw new Error("no servers");
    victim.kill("SIGKILL");
    await victim.exited;
    await send(other);
    await expectAnswers(other);
    servers[dying] = await start(dying, victim.port);
    await send(servers[dying]);
    await expectAnswers(servers[dying]);
  }
  await eventually("every attribute has its column", async () => {
    const [row] = await stores.postgres<{ n: number }[]>`
      SELECT count(*)::integer AS n FROM log_attribute_columns WHERE state = 'ready'`;
    return row?.n === KEYS.length;
  });
  for (const server of servers) await expectAnswers(server);
});
