import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { openTestRedis, type TestRedis } from "../harness/redis.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

/** What one instance counts, remembers or forbids holds on the other, with Redis or without. */

const SEARCHES = "/api/v1/saved-searches";
const PER_MINUTE = 60;
const SECRET_KEY = Buffer.alloc(32, 5).toString("base64");

let redis: TestRedis | null;
beforeAll(async () => {
  redis = await openTestRedis();
});
afterAll(() => redis?.close());

describe.each(["with Redis", "without Redis"])("two instances over the same stores, %s,", (kind) => {
  let stores: TestStores;
  let directories: TemporaryDirectory[];
  let servers: [ServerProcess, ServerProcess];
  /** Of an owner, with every scope. */
  let token: string;

  const start = (directory: TemporaryDirectory, port?: number): Promise<ServerProcess> =>
    startServer({
      dataDirectory: directory.path,
      ...(port !== undefined && { port }),
      env: {
        DATABASE_URL: stores.postgresUrl,
        CLICKHOUSE_URL: stores.clickhouseUrl,
        SECRET_KEY,
        ...(kind === "with Redis" && redis !== null && { REDIS_URL: redis.url }),
      },
    });

  beforeAll(async () => {
    stores = await openTestStores();
    directories = [temporaryDirectory(), temporaryDirectory()];
    const [first, second] = directories;
    if (first === undefined || second === undefined) throw new Error("two directories");
    servers = await Promise.all([start(first), start(second)]);
    token = await makeToken(servers[0].url);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    for (const directory of directories) directory[Symbol.dispose]();
    await stores.close();
  });

  /** The `index`th call goes to one instance or the other. */
  function post(
    index: number,
    path: string,
    credential: string,
    json: unknown,
    headers: Record<string, string> = {},
  ) {
    const { url } = servers[index % 2 === 0 ? 0 : 1];
    return fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${credential}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(json),
    });
  }

  async function mint(body: Record<string, unknown>): Promise<{ id: number; token: string }> {
    const response = await post(0, "/api/v1/me/tokens", token, { name: "capped", ...body });
    expect(response.status).toBe(201);
    return JSON.parse(await response.text());
  }

  async function countSearches(prefix: string): Promise<number> {
    const [row] = await stores.postgres<{ searches: number }[]>`
      SELECT count(*)::integer AS searches FROM saved_searches WHERE name LIKE ${`${prefix}%`}`;
    return row?.searches ?? -1;
  }

  test("let a token make as many changes a day as its cap says, also after a restart", async () => {
    const capped = await mint({ dailyMutationLimit: 10 });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        post(index, SEARCHES, capped.token, { name: `capped ${index}` }),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array<number>(10).fill(201), ...Array<number>(20).fill(429)]);
    expect(await countSearches("capped")).toBe(10);
    const [directory] = directories;
    if (directory === undefined) throw new Error("no directory");
    await servers[0].stop();
    servers[0] = await start(directory, servers[0].port);
    const refused = await post(0, SEARCHES, capped.token, { name: "capped again" });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: "PAT_DAILY_LIMIT_EXCEEDED" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // Reading is not changing.
    const read = await fetch(`${servers[1].url}${SEARCHES}`, {
      headers: { authorization: `Bearer ${capped.token}` },
    });
    expect(read.status).toBe(200);
  });

  test("let a token send as many bytes of logs a day as its cap says", async () => {
    const entry = { message: "x".repeat(100) };
    const bytes = Buffer.byteLength(JSON.stringify(entry));
    const capped = await mint({ dailyLogBytesLimit: bytes * 7 + 1 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(index, "/api/v1/logs/ingest", capped.token, entry)),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(13);
  });

  test("execute a request with an Idempotency-Key once, and answer its repetitions in the same bytes", async () => {
    const headers = { "idempotency-key": `once ${kind}` };
    const json = { name: `once ${kind}` };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(index, SEARCHES, token, json, headers)),
    );
    for (const answer of answers) {
      if (answer.status !== 201)
        expect(await answer.json()).toMatchObject({ code: "IDEMPOTENCY_IN_PROGRESS" });
    }
    expect(
      answers.filter((one) => one.status === 201 && !one.headers.has("idempotent-replayed")),
    ).toHaveLength(1);
    const [one, other] = await Promise.all(
      [0, 1].map((index) => post(index, SEARCHES, token, json, headers)),
    );
    expect(one?.headers.get("idempotent-replayed")).toBe("true");
    expect(other?.status).toBe(201);
    expect(await one?.text()).toBe((await other?.text()) ?? "");
    expect(await countSearches(`once ${kind}`)).toBe(1);
    const reused = await post(1, SEARCHES, token, { name: "something else" }, headers);
    expect(await reused.json()).toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
    expect(reused.status).toBe(422);
  });

  test("repeat a token that is shown once, and keep it encrypted", async () => {
    const headers = { "idempotency-key": `minted ${kind}` };
    const [first, second] = [
      await post(0, "/api/v1/me/tokens", token, { name: "shown" }, headers),
      await post(1, "/api/v1/me/tokens", token, { name: "shown" }, headers),
    ];
    const text = await first.text();
    expect(await second.text()).toBe(text);
    const minted: { token: string } = JSON.parse(text);
    const kept = await stores.postgres<
      { answer: Buffer }[]
    >`SELECT answer FROM idempotency_keys WHERE answer IS NOT NULL`;
    expect(kept.length).toBeGreaterThan(0);
    for (const { answer } of kept) expect(answer.includes(minted.token)).toBe(false);
  });

  test("refuse a revoked token on both", async () => {
    const revoked = await mint({});
    const use = async (index: number): Promise<number> =>
      (
        await fetch(`${servers[index === 0 ? 0 : 1].url}${SEARCHES}`, {
          headers: { authorization: `Bearer ${revoked.token}` },
        })
      ).status;
    expect([await use(0), await use(1)]).toEqual([200, 200]);
    const gone = await fetch(`${servers[0].url}/api/v1/me/tokens/${revoked.id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}` },
    });
    expect(gone.status).toBe(204);
    expect(await use(0)).toBe(401);
    await eventually("the other instance refuses it", async () => (await use(1)) === 401);
  });

  test("make exactly one search of each key when one of them is killed in the middle", async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `killed ${kind} ${index}`);
    const send = (index: number, name: string) =>
      post(index, SEARCHES, token, { name }, { "idempotency-key": name });
    const attempts = keys.map((name) =>
      send(0, name).then(
        (answer) => answer.status,
        () => 0,
      ),
    );
    await eventually("some are made", async () => (await countSearches(`killed ${kind}`)) > 3);
    servers[0].kill("SIGKILL");
    const [directory] = directories;
    if (directory === undefined) throw new Error("no directory");
    await Promise.all(attempts);
    await servers[0].exited;
    await eventually("the other instance has answered each", async () => {
      const answers = await Promise.all(keys.map((name) => send(1, name)));
      return answers.every(({ status }) => status === 201);
    });
    expect(await countSearches(`killed ${kind}`)).toBe(keys.length);
    servers[0] = await start(directory, servers[0].port);
  });
});

test("two instances that share a Redis share the rate limit of a credential", async () => {
  if (redis === null) return;
  const stores = await openTestStores();
  using first = temporaryDirectory();
  using second = temporaryDirectory();
  const env = {
    DATABASE_URL: stores.postgresUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    REDIS_URL: redis.url,
    SECRET_KEY,
    RATE_LIMIT_PER_MINUTE: String(PER_MINUTE),
  };
  const servers = await Promise.all(
    [first, second].map(({ path }) => startServer({ dataDirectory: path, env })),
  );
  try {
    const token = await makeToken(servers[0]?.url ?? "");
    const startedAt = performance.now();
    const statuses = await Promise.all(
      Array.from({ length: 3 * PER_MINUTE }, async (_, index) => {
        const url = servers[index % 2]?.url ?? "";
        return (await fetch(`${url}${SEARCHES}`, { headers: { authorization: `Bearer ${token}` } })).status;
      }),
    );
    const refilled = Math.ceil(((performance.now() - startedAt) / 60_000) * PER_MINUTE) + 1;
    const allowed = statuses.filter((status) => status === 200).length;
    expect(allowed).toBeGreaterThan(0);
    // On a machine that is busy Redis answers some calls too late, which the instance then judges by itself, and says so.
    const alone = await Promise.all(servers.map(({ url }) => localDecisionsOf(url)));
    expect(allowed).toBeLessThanOrEqual(PER_MINUTE + refilled + alone.reduce((sum, count) => sum + count, 0));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await stores.close();
  }
});

async function localDecisionsOf(url: string): Promise<number> {
  const exposed = await (await fetch(`${url}/metrics`)).text();
  const [, count] = /^obs_rate_limit_local_decisions_total (\d+)$/m.exec(exposed) ?? [];
  if (count === undefined) throw new Error(`there is no such metric: ${exposed}`);
  return Number(count);
}
