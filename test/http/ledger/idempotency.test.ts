import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/errors.ts";
import { removeExpiredKeys } from "../../../src/http/ledger/idempotency-store.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { eventually } from "../../harness/eventually.ts";
import { letPass } from "../../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  type CallOptions,
  countThings,
  makeOrganization,
  outcomeOf,
  THINGS,
  thingServer,
} from "./thing-server.ts";

const HOUR_MS = 3_600_000;

let stores: TestStores;
let sql: TestStores["postgres"];
let secondSql: TestStores["postgres"];
let organizationId: number;

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  secondSql = createPostgres(stores.postgresUrl);
  organizationId = await makeOrganization(sql);
});
afterAll(async () => {
  await secondSql.end();
  await stores.close();
});

/** A name and key nobody else uses. */
function fresh(): { name: string; key: string } {
  const name = crypto.randomUUID();
  return { name, key: `key ${name}` };
}

async function outcomes(calls: readonly Promise<Response>[]): Promise<string[]> {
  return Promise.all(calls.map(async (call) => outcomeOf(await call)));
}

describe("a repeated request", () => {
  test("is answered with the same status, bytes and headers, on every instance, and has one effect", async () => {
    const { name, key } = fresh();
    const [one, two] = [thingServer(sql, organizationId), thingServer(secondSql, organizationId)];
    const first = await one.post({ name }, { key });
    expect(first.headers.has("idempotent-replayed")).toBe(false);
    const bytes = await first.text();
    for (const server of [one, two, one]) {
      const repeated = await server.post({ name }, { key });
      expect(repeated.headers.get("idempotent-replayed")).toBe("true");
      expect([repeated.status, await repeated.text()]).toEqual([201, bytes]);
      for (const header of ["content-type", "location"])
        expect(repeated.headers.get(header)).toBe(first.headers.get(header));
    }
    expect(await countThings(sql, name)).toBe(1);
    const [audited] = await sql<{ rows: number }[]>`
      SELECT count(*)::integer AS rows FROM audit_log WHERE meta #>> '{diff,name,to}' = ${name}`;
    expect(audited?.rows).toBe(1);
  });

  test("without a body keeps being without one", async () => {
    const { name, key } = fresh();
    const server = thingServer(sql, organizationId, { reply: () => ({ status: 204 }) });
    await server.post({ name }, { key });
    const repeated = await server.post({ name }, { key });
    expect(repeated.status).toBe(204);
    expect(repeated.headers.get("content-type")).toBeNull();
    expect(repeated.headers.get("idempotent-replayed")).toBe("true");
  });

  test("may be packed; the key stands for the bytes on the wire", async () => {
    const { name, key } = fresh();
    const server = thingServer(sql, organizationId);
    const packed = new Uint8Array(Bun.gzipSync(new TextEncoder().encode(JSON.stringify({ name }))));
    const headers = {
      "idempotency-key": key,
      "content-type": "application/json",
      "content-encoding": "gzip",
    };
    const send = () => server.send("POST", THINGS, { body: packed, headers });
    expect(await outcomes([send()])).toEqual(["201"]);
    expect(await outcomes([send()])).toEqual(["201 replayed"]);
    expect(await countThings(sql, name)).toBe(1);
  });

  test("is executed anew after 24 hours and not before", async () => {
    const { name, key } = fresh();
    const server = thingServer(sql, organizationId);
    await server.post({ name }, { key });
    await letPass(sql, "idempotency_keys", 23 * HOUR_MS);
    await removeExpiredKeys(sql, Date.now(), 1_000);
    expect(await outcomes([server.post({ name }, { key })])).toEqual(["201 replayed"]);
    await letPass(sql, "idempotency_keys", HOUR_MS);
    expect(await outcomes([server.post({ name: `${name} later` }, { key })])).toEqual(["201"]);
    expect(await outcomes([server.post({ name: `${name} later` }, { key })])).toEqual(["201 replayed"]);
    await letPass(sql, "idempotency_keys", 24 * HOUR_MS);
    expect(await removeExpiredKeys(sql, Date.now(), 1_000)).toBeGreaterThan(0);
    expect(await outcomes([server.post({ name }, { key })])).toEqual(["201"]);
  });

  test("with a secret that is shown once shows it again, and the table holds it encrypted", async () => {
    const { name, key } = fresh();
    const secret = `obs_${"s3cret".repeat(7)}A`;
    const server = thingServer(sql, organizationId, { reply: () => ({ status: 201, body: { secret } }) });
    await server.post({ name }, { key });
    expect(await (await server.post({ name }, { key })).text()).toContain(secret);
    const rows = await sql<{ text: string }[]>`
      SELECT encode(answer, 'escape') || credential || encode(key_hash, 'escape') AS text FROM idempotency_keys
      WHERE answer IS NOT NULL`;
    expect(rows.length).toBeGreaterThan(0);
    for (const { text } of rows) {
      expect(text).not.toContain("s3cret");
      expect(text).not.toContain(key);
    }
  });
});

describe("requests at the same time", () => {
  test("with one key have one effect on two instances; the others are told to wait", async () => {
    const { name, key } = fresh();
    const gate = Promise.withResolvers<void>();
    const meanwhile = (): Promise<void> => gate.promise;
    const servers = [sql, secondSql].map((pool) => thingServer(pool, organizationId, { meanwhile }));
    const calls = Array.from(
      { length: 20 },
      (_, i) => servers[i % 2]?.post({ name }, { key }) ?? Promise.reject(),
    );
    let refused = 0;
    for (const call of calls) void call.then(() => (refused += 1));
    await eventually("all but one are refused", () => refused === 19 || null);
    gate.resolve();
    const answers = await Promise.all(calls);
    const waiting = answers.filter(({ status }) => status === 409);
    expect(waiting.length).toBe(19);
    for (const answer of waiting) {
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await outcomeOf(answer)).toBe("409 IDEMPOTENCY_IN_PROGRESS");
    }
    expect(await countThings(sql, name)).toBe(1);
    expect(await outcomes(servers.map((server) => server.post({ name }, { key })))).toEqual([
      "201 replayed",
      "201 replayed",
    ]);
  });

  test("with different keys, or none, do not wait for each other", async () => {
    const server = thingServer(sql, organizationId);
    const { name } = fresh();
    const calls = Array.from({ length: 10 }, (_, i) =>
      server.post({ name }, i < 5 ? { key: `${name} ${i}` } : {}),
    );
    expect(await outcomes(calls)).toEqual(Array.from({ length: 10 }, () => "201"));
    expect(await countThings(sql, name)).toBe(10);
  });
});

describe("a key", () => {
  const others: [string, (name: string) => [unknown, Partial<CallOptions>]][] = [
    ["another body", (name) => [{ name: `${name}!` }, {}]],
    ["another method", (name) => [{ name }, { method: "PUT" }]],
    ["another path", (name) => [{ name }, { path: `${THINGS}/others` }]],
    ["another query", (name) => [{ name }, { path: `${THINGS}?note=1` }]],
  ];
  test.each(others)("is refused with %s", async (_, other) => {
    const { name, key } = fresh();
    const server = thingServer(sql, organizationId);
    await server.post({ name }, { key });
    const [json, options] = other(name);
    expect(await outcomes([server.post(json, { ...options, key })])).toEqual(["422 IDEMPOTENCY_KEY_REUSED"]);
    expect(await outcomes([server.post({ name }, { key })])).toEqual(["201 replayed"]);
    expect(await countThings(sql, name)).toBe(1);
  });

  test("belongs to a token, or to all sessions of a person in an organisation", async () => {
    const { name, key } = fresh();
    const server = thingServer(sql, organizationId);
    const foreign = await makeOrganization(sql);
    const send = (as: CallOptions["as"]) => server.post({ name }, { key, ...(as !== undefined && { as }) });
    for (const as of [
      { tokenId: 3 },
      { tokenId: 4 },
      { tokenId: null, userId: 5 },
      { tokenId: null, userId: 6 },
      { tokenId: 3, organizationId: foreign },
    ])
      expect(await outcomes([send(as)])).toEqual(["201"]);
    expect(await countThings(sql, name)).toBe(5);
    expect(await outcomes([send({ tokenId: null, userId: 5 }), send({ tokenId: 3, userId: 9 })])).toEqual([
      "201 replayed",
      "201 replayed",
    ]);
  });

  test("has at most 255 characters; an empty one is none", async () => {
    const server = thingServer(sql, organizationId);
    const { name } = fresh();
    expect(await outcomes([server.post({ name }, { key: "k".repeat(256) })])).toEqual([
      "400 IDEMPOTENCY_KEY_TOO_LONG",
    ]);
    expect(await outcomes([server.post({ name }, { key: "k".repeat(255) })])).toEqual(["201"]);
    expect(await outcomes([server.post({ name }, { key: "" }), server.post({ name }, { key: "" })])).toEqual([
      "201",
      "201",
    ]);
  });
});

describe("what is remembered", () => {
  test.each([
    ["CONFLICT", "409 replayed"],
    ["NOT_FOUND", "404 replayed"],
    ["RATE_LIMITED", "201"],
    ["PLAN_LIMIT_LOG_BYTES", "201"],
    ["UNAVAILABLE", "201"],
    ["QUERY_TIMEOUT", "201"],
    ["INTERNAL", "201"],
  ] as const)("after %s the repetition gets %s", async (code, expected) => {
    const { name, key } = fresh();
    let failures = 1;
    const before = (): void => {
      failures -= 1;
      if (failures >= 0) throw new ApiError(code, "not this time");
    };
    const server = thingServer(sql, organizationId, { before });
    const first = await outcomeOf(await server.post({ name }, { key }));
    expect(first).toEndWith(` ${code}`);
    expect(await outcomes([server.post({ name }, { key })])).toEqual([expected]);
    expect(await countThings(sql, name)).toBe(expected === "201" ? 1 : 0);
  });

  test("a body that violates the schema is answered the same again, with the request id of the first time", async () => {
    const { key } = fresh();
    const server = thingServer(sql, organizationId);
    const first = await (await server.post({ name: "" }, { key })).text();
    const repeated = await server.post({ name: "" }, { key });
    expect(repeated.headers.get("idempotent-replayed")).toBe("true");
    expect(await repeated.text()).toBe(first);
  });

  test("a change that fails is undone, and its repetition is executed", async () => {
    const { name, key } = fresh();
    let failures = 1;
    const meanwhile = async (): Promise<void> => {
      failures -= 1;
      if (failures >= 0) throw new Error("failed after the insert");
    };
    const server = thingServer(sql, organizationId, { meanwhile });
    expect(await outcomes([server.post({ name }, { key })])).toEqual(["500 INTERNAL"]);
    expect(await countThings(sql, name)).toBe(0);
    expect(await outcomes([server.post({ name }, { key })])).toEqual(["201"]);
    expect(await countThings(sql, name)).toBe(1);
  });

  test("the refusals of caps and limits are not", async () => {
    const { name, key } = fresh();
    const server = thingServer(sql, organizationId);
    const capped = { key, as: { tokenId: 3, dailyMutations: 0 } };
    expect(await outcomes([server.post({ name }, capped)])).toEqual(["429 PAT_DAILY_LIMIT_EXCEEDED"]);
    expect(await outcomes([server.post({ name }, { key, as: { tokenId: 3 } })])).toEqual(["201"]);
  });
});
