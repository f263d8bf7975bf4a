/** Executions of a key that die or are overtaken: the request takes effect exactly once all the same. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { ExecutionOfKey } from "../../../src/http/ledger/idempotency.ts";
import { claimKey } from "../../../src/http/ledger/idempotency-store.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { principalOf } from "../../audit/audited-organization.ts";
import { eventually } from "../../harness/eventually.ts";
import { letPass } from "../../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { countThings, makeOrganization, outcomeOf, THINGS, thingServer } from "./thing-server.ts";

const HOUR_MS = 3_600_000;

let stores: TestStores;
let sql: TestStores["postgres"];
let organizationId: number;

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  organizationId = await makeOrganization(sql);
});
afterAll(() => stores.close());

/** What a process leaves behind that began to execute a request and was killed. */
async function leaveClaim(name: string, key: string, leaseMs: number): Promise<void> {
  const body = new TextEncoder().encode(JSON.stringify({ name }));
  const outcome = await claimKey(
    sql,
    { organizationId, credential: "token:3", keyHash: createHash("sha256").update(key).digest() },
    {
      fingerprint: createHash("sha256").update(`POST ${THINGS}\0`).update(body).digest(),
      attempt: crypto.randomUUID(),
      leaseMs,
      keepMs: 24 * HOUR_MS,
      log: null,
    },
  );
  expect(outcome.kind).toBe("claimed");
}

test("one that died before its commit is executed once, when its lease is over", async () => {
  const [name, key] = [crypto.randomUUID(), crypto.randomUUID()];
  await leaveClaim(name, key, HOUR_MS);
  const second = createPostgres(stores.postgresUrl);
  const servers = [sql, second].map((pool) => thingServer(pool, organizationId));
  const [one, two] = servers;
  if (one === undefined || two === undefined) throw new Error("no servers");
  // Whatever their own clocks say.
  one.nowMs = Date.now() + 24 * HOUR_MS;
  two.nowMs = Date.now() - 24 * HOUR_MS;
  const early = await one.post({ name }, { key });
  expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(1_800);
  expect(await outcomeOf(early)).toBe("409 IDEMPOTENCY_IN_PROGRESS");
  expect(await outcomeOf(await two.post({ name }, { key }))).toBe("409 IDEMPOTENCY_IN_PROGRESS");
  await letPass(sql, "idempotency_keys", HOUR_MS);
  const reused = await one.post({ name: `${name}!` }, { key });
  expect(await outcomeOf(reused)).toBe("422 IDEMPOTENCY_KEY_REUSED");
  const answers = await Promise.all(
    Array.from({ length: 10 }, async (_, i) => outcomeOf(await (i % 2 ? one : two).post({ name }, { key }))),
  );
  expect(answers.filter((outcome) => outcome === "201").length).toBe(1);
  expect(await countThings(sql, name)).toBe(1);
  expect(await outcomeOf(await two.post({ name }, { key }))).toBe("201 replayed");
  await second.end();
});

test("one that died after its commit and before its answer is not executed again", async () => {
  const [name, key] = [crypto.randomUUID(), crypto.randomUUID()];
  const server = thingServer(sql, organizationId);
  const principal = principalOf(organizationId, { tokenId: 3 });
  const identity = {
    method: "POST",
    target: THINGS,
    body: Buffer.from(JSON.stringify({ name })),
    isIngest: false,
  };
  const execution = await server.ledger.begin(principal, key, identity);
  if (!(execution instanceof ExecutionOfKey)) throw new Error("the key is taken");
  const origin = { ip: "192.0.2.1", userAgent: null };
  await server.ledger.change(
    { principal, action: "CREATE_THING", origin, execution, signal: new AbortController().signal },
    async ({ tx, record }) => {
      await tx`INSERT INTO saved_searches (organization_id, name, created_at, updated_at)
               VALUES (${organizationId}, ${name}, now(), now())`;
      record({ resource: "thing:1", after: { name } });
      return { status: 201, body: { name } };
    },
    {},
  );
  // Its answer never left: nobody ends the execution, as far as others can see.
  const repeated = await server.post({ name }, { key });
  expect(repeated.headers.get("idempotent-replayed")).toBe("true");
  expect(await repeated.json()).toEqual({ name });
  await letPass(sql, "idempotency_keys", HOUR_MS);
  expect(await outcomeOf(await server.post({ name }, { key }))).toBe("201 replayed");
  expect(await countThings(sql, name)).toBe(1);
  await execution.end(null);
  expect(await outcomeOf(await server.post({ name }, { key }))).toBe("201 replayed");
});

test("one that lost its lease to another undoes what it did", async () => {
  const [name, key] = [crypto.randomUUID(), crypto.randomUUID()];
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const slow = thingServer(sql, organizationId, {
    meanwhile: () => {
      reached.resolve();
      return gate.promise;
    },
  });
  const other = thingServer(sql, organizationId, { reply: () => ({ status: 201, body: "by the other" }) });
  const overtaken = slow.post({ name }, { key });
  await reached.promise;
  // It says that it lives every now and then, so the other may have to look again.
  await eventually("the other takes over", async () => {
    await letPass(sql, "idempotency_keys", HOUR_MS / 2);
    return (await outcomeOf(await other.post({ name }, { key }))) === "201";
  });
  gate.resolve();
  expect(await outcomeOf(await overtaken)).toBe("409 IDEMPOTENCY_IN_PROGRESS");
  expect(await countThings(sql, name)).toBe(1);
  expect(await (await slow.post({ name }, { key })).text()).toBe('"by the other"');
  expect(slow.audited).toEqual([]);
});

test("one that takes long and lives keeps its key", async () => {
  const [name, key] = [crypto.randomUUID(), crypto.randomUUID()];
  const gate = Promise.withResolvers<void>();
  const server = thingServer(sql, organizationId, { meanwhile: () => gate.promise });
  const slow = server.post({ name }, { key });
  const keyHash = createHash("sha256").update(key).digest();
  const leasedUntilMs = async (): Promise<number> => {
    const [row] = await sql<{ leased_until: Date }[]>`
      SELECT leased_until FROM idempotency_keys WHERE key_hash = ${keyHash}`;
    return row?.leased_until.getTime() ?? 0;
  };
  await eventually("claimed", async () => (await leasedUntilMs()) > 0 || null);
  const claimedUntilMs = await leasedUntilMs();
  await eventually("renewed", async () => (await leasedUntilMs()) > claimedUntilMs || null);
  gate.resolve();
  expect(await outcomeOf(await slow)).toBe("201");
  expect(await countThings(sql, name)).toBe(1);
});
