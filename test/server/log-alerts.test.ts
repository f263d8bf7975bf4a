/** A rule over a whole server: what is shipped pages a real receiver with a signature, once, through kill -9 of either server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const ROUNDS = 3;

interface Call {
  readonly headers: Record<string, string>;
  readonly body: string;
}

let stores: TestStores;
let directories: readonly [TemporaryDirectory, TemporaryDirectory];
let servers: [ServerProcess, ServerProcess];
let token: string;
let receiver: ReturnType<typeof Bun.serve>;
const calls: Call[] = [];

beforeAll(async () => {
  stores = await openTestStores();
  directories = [temporaryDirectory(), temporaryDirectory()];
  servers = [await start(0), await start(1)];
  token = await makeToken(servers[0].url);
  receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      calls.push({ headers: Object.fromEntries(request.headers), body: await request.text() });
      return new Response("ok");
    },
  });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await receiver.stop(true);
  for (const directory of directories) directory[Symbol.dispose]();
  await stores.close();
});

function start(index: 0 | 1): Promise<ServerProcess> {
  return startServer({
    dataDirectory: directories[index].path,
    env: {
      DATABASE_URL: stores.postgresUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      OUTBOUND_ALLOW: "127.0.0.1",
    },
  });
}

async function ask<T>(index: 0 | 1, method: string, path: string, json?: unknown): Promise<T> {
  const response = await fetch(`${servers[index].url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

test("a rule made from a saved search pages a receiver once for each of its groups, whichever server dies meanwhile", async () => {
  const { secret } = await ask<{ secret: string }>(0, "POST", "/me/webhook-secret/rotate");
  const search = await ask<{ id: number }>(0, "POST", "/saved-searches", {
    ...{ name: "Failed payments", q: "payment failed", query: "level == 'error'" },
  });
  await ask(0, "POST", "/log-alerts", {
    ...{ name: "Payments fail", fromSavedSearch: search.id, threshold: 20 },
    ...{ windowSec: 300, groupBy: ["service"], severity: "high" },
    alertWebhookUrl: `http://127.0.0.1:${receiver.port}/hook`,
  });
  // Whoever counts what was before the rule has a lease on that, which would have to end.
  await eventually(
    "the rule",
    async () => (await ask<{ state: string }[]>(0, "GET", "/log-alerts"))[0]?.state === "ok",
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    const [dying, living]: [0 | 1, 0 | 1] = round % 2 === 0 ? [0, 1] : [1, 0];
    const entries = Array.from({ length: 10 }, (_, i) => ({
      ...{ message: `payment failed ${i}`, level: "error", service: `shop-${round}` },
    }));
    // Acknowledged by both; one of them dies before anybody can have looked at it.
    await ask(living, "POST", "/logs/ingest", entries);
    await ask(dying, "POST", "/logs/ingest", entries);
    servers[dying].kill("SIGKILL");
    await servers[dying].exited;
    servers[dying] = await start(dying);
    await eventually(`the page of round ${round}`, () => pages(`shop-${round}`).length > 0);
  }
  for (let round = 0; round < ROUNDS; round += 1)
    expect(new Set(pages(`shop-${round}`).map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  for (const { headers, body } of calls) expect(new Webhook(secret).verify(body, headers)).toBeObject();
  const [first] = pages("shop-0");
  expect(JSON.parse(first?.body ?? "{}")).toMatchObject({
    type: "incident.opened",
    data: {
      incident: {
        severity: "high",
        ruleKind: "log",
        groupKey: { service: "shop-0" },
        source: { kind: "rule" },
      },
    },
  });
  const { items } = await ask<{ items: object[] }>(0, "GET", "/incidents");
  expect(items).toHaveLength(ROUNDS);
});

/** What was told of an incident that opened for a service. */
function pages(service: string): Call[] {
  return calls.filter(({ body }) => body.includes("incident.opened") && body.includes(`"${service}"`));
}
