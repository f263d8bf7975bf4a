/** An instance that is killed right after it stored a request with a key, and the other one that gets the repetition. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openStatementGate, type StatementGate } from "../harness/statement-gate.ts";
import { storedMessages } from "../harness/stored-messages.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

let stores: TestStores;
let gate: StatementGate;
let directories: [TemporaryDirectory, TemporaryDirectory];

beforeAll(async () => {
  stores = await openTestStores();
  const { hostname: host, port } = new URL(stores.postgresUrl);
  gate = await openStatementGate({ host, port: Number(port) });
  directories = [temporaryDirectory(), temporaryDirectory()];
});
afterAll(async () => {
  await gate.close();
  for (const directory of directories) directory[Symbol.dispose]();
  await stores.close();
});

function start(directory: TemporaryDirectory, databaseUrl: string): Promise<ServerProcess> {
  const env = { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: stores.clickhouseUrl };
  return startServer({ dataDirectory: directory.path, env });
}

test("a keyed batch is stored once when its instance is killed before it could keep the answer", async () => {
  const throughGate = new URL(stores.postgresUrl);
  throughGate.port = String(gate.port);
  const killed = await start(directories[0], throughGate.href);
  const other = await start(directories[1], stores.postgresUrl);
  const token = await makeToken(other.url);
  const messages = ["first of the batch", "second of the batch"];
  const send = async ({ url }: ServerProcess): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${url}/api/v1/logs/ingest`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": "batch",
      },
      body: JSON.stringify(messages.map((message) => ({ message }))),
    });
    return { status: response.status, text: await response.text() };
  };
  gate.stopAt(", answer = $");
  const cutOff = send(killed).catch(() => null);
  await gate.stopped;
  killed.kill("SIGKILL");
  expect(await cutOff).toBeNull();
  await eventually("the lease of the dead is over", async () => (await send(other)).status === 503);
  const back = await start(directories[0], stores.postgresUrl);
  const answered = await eventually("the repetition is answered", async () => {
    const answer = await send(other);
    return answer.status !== 503 && answer;
  });
  expect(answered).toEqual({ status: 202, text: '{"accepted":2,"duplicates":2}' });
  expect(await send(back)).toEqual(answered);
  expect(await Promise.all([back.stop(), other.stop()])).toEqual([0, 0]);
  expect(await storedMessages(stores.clickhouse)).toEqual(new Map(messages.map((message) => [message, 1])));
});
