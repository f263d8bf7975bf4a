/** A change of state is one transaction with its audit rows, and sees its own organisation only. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Change, ChangeOptions } from "../../../src/changes/change.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { auditReader, ORIGIN, principalOf } from "../../audit/audited-organization.ts";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { countThings, makeOrganization, outcomeOf, THINGS, thingServer } from "./thing-server.ts";

let stores: TestStores;
let sql: TestStores["postgres"];
let organizationId: number;

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  organizationId = await makeOrganization(sql);
});
afterAll(() => stores.close());

/** Runs a change as the ledger runs those of handlers. */
function change(work: (made: Change) => Promise<unknown>, options: ChangeOptions = {}): Promise<unknown> {
  const call = {
    principal: principalOf(organizationId),
    action: "UPDATE_THING",
    origin: ORIGIN,
    execution: null,
    signal: new AbortController().signal,
  };
  return thingServer(sql, organizationId).ledger.change(
    call,
    async (made) => {
      await work(made);
      made.record({ resource: "thing:1", after: {} });
      return { status: 200 };
    },
    options,
  );
}

test("changes of one organisation that wait for each other leave the connections to those of others", async () => {
  const [busy, other] = [await makeOrganization(sql), await makeOrganization(sql)];
  const { ledger } = thingServer(sql, busy);
  const begin = (organizationId: number): Promise<unknown> =>
    ledger.change(
      {
        principal: principalOf(organizationId),
        action: "UPDATE_THING",
        origin: ORIGIN,
        execution: null,
        signal: new AbortController().signal,
      },
      async (made) => {
        made.record({ resource: "thing:1", after: {} });
        return { status: 200 };
      },
      {},
    );
  await begin(busy);
  const blocker = createPostgres(stores.postgresUrl, { maxConnections: 1 });
  const blocked = Promise.withResolvers<void>();
  const hold = Promise.withResolvers<void>();
  const holding = blocker.begin(async (tx) => {
    await tx`SELECT 1 FROM audit_heads WHERE organization_id = ${busy} FOR UPDATE`;
    blocked.resolve();
    await hold.promise;
  });
  await blocked.promise;
  let changed = 0;
  const waiting = Array.from({ length: 40 }, () => begin(busy).then(() => changed++));
  await begin(other);
  expect(changed).toBe(0);
  hold.resolve();
  await Promise.all([holding, ...waiting]);
  expect(changed).toBe(40);
  await blocker.end();
});

test("a call is audited with its action, its token, its address and its user agent", async () => {
  const own = await makeOrganization(sql);
  const server = thingServer(sql, own);
  const made = await server.send("POST", THINGS, {
    json: { name: "audited" },
    headers: { "user-agent": "suite/2.0", "x-made": '{"tokenId":17,"userId":8}' },
    peerAddress: "198.51.100.4",
  });
  expect(made.status).toBe(201);
  const { items } = await auditReader(stores, own).list();
  expect(items).toEqual([
    {
      id: expect.any(Number),
      createdAt: "2026-03-01T12:00:00.000Z",
      actorUserId: 8,
      actorPatId: 17,
      actorEmail: "ana@example.com",
      action: "CREATE_THING",
      resource: expect.stringMatching(/^thing:\d+$/),
      meta: {
        changedFields: ["name"],
        diff: { name: { from: null, to: "audited" } },
        ip: "198.51.100.4",
        ua: "suite/2.0",
      },
    },
  ]);
  expect(server.audited).toEqual([own]);
});

test("a change that fails leaves nothing, tells nobody and answers 500 without a word about it", async () => {
  const own = await makeOrganization(sql);
  const acts: string[] = [];
  const server = thingServer(sql, own, {
    meanwhile: async ({ afterCommit }) => {
      afterCommit(() => acts.push("told"));
      throw new Error("an inner secret");
    },
  });
  const answer = await server.post({ name: "failing" });
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain("secret");
  expect(await countThings(sql, "failing")).toBe(0);
  expect((await auditReader(stores, own).list()).items).toEqual([]);
  expect([acts, server.audited]).toEqual([[], []]);
});

test("what is to follow a change follows its commit", async () => {
  const seen: number[] = [];
  const server = thingServer(sql, organizationId, {
    meanwhile: async ({ afterCommit, tx }, name) => {
      const [row] = await sql<{ things: number }[]>`
        SELECT count(*)::integer AS things FROM saved_searches WHERE name = ${name}`;
      seen.push(row?.things ?? -1);
      await tx`SELECT 1`;
      afterCommit(() => void countThings(sql, name).then((things) => seen.push(things)));
    },
  });
  await server.post({ name: "followed" });
  await eventually("the act", () => seen.length === 2 || null);
  expect(seen).toEqual([0, 1]);
});

test("a route that declares a change and makes none answers 500", async () => {
  const answer = await thingServer(sql, organizationId).post({ name: "x" }, { path: `${THINGS}/forgetful` });
  expect(await outcomeOf(answer)).toBe("500 INTERNAL");
});

describe("a change reaches", () => {
  test("rows of its organisation only, whatever its statements say", async () => {
    const foreign = await makeOrganization(sql);
    const name = crypto.randomUUID();
    await thingServer(sql, foreign).post({ name });
    let visible = -1;
    await change(async ({ tx }) => {
      await tx`UPDATE saved_searches SET description = 'seen'`;
      visible = (await tx`SELECT 1 FROM saved_searches WHERE name = ${name}`).count;
    });
    expect(visible).toBe(0);
    const [row] = await sql<{ description: string | null }[]>`
      SELECT description FROM saved_searches WHERE name = ${name}`;
    expect(row?.description).toBeNull();
    const intoForeign = change(
      ({ tx }) => tx`INSERT INTO saved_searches (organization_id, name, created_at, updated_at)
                     VALUES (${foreign}, 'smuggled', now(), now())`,
    );
    await expect(intoForeign).rejects.toThrow("row-level security");
    await expect(change(({ tx }) => tx`UPDATE users SET email = 'x'`)).rejects.toThrow("permission denied");
  });

  test("further only where it says why, and is audited in its own organisation then too", async () => {
    const own = await makeOrganization(sql);
    await sql`INSERT INTO users (email, created_at) VALUES ('old@example.com', now())`;
    const renamed = change(({ tx }) => tx`UPDATE users SET email = 'new@example.com'`, {
      reachesFurther: "a person belongs to no organisation",
    });
    await renamed;
    const [person] = await sql<{ email: string }[]>`SELECT email FROM users`;
    expect(person?.email).toBe("new@example.com");
    expect((await auditReader(stores, own).list()).items).toEqual([]);
    expect((await auditReader(stores, organizationId).list()).items[0]).toMatchObject({
      action: "UPDATE_THING",
    });
  });
});
