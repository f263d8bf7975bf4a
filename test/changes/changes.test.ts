/** A change is one transaction with its audit rows and its events, whoever makes it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../src/changes/actor.ts";
import type { Change } from "../../src/changes/change.ts";
import { type Changes, SERVER_ORIGIN } from "../../src/changes/changes.ts";
import {
  CHANGE_TIMEOUT_MS,
  EVENTS_MAX_OF_CHANGE,
  PAYLOAD_MAX_BYTES,
  SUBJECT_MAX_CHARS,
} from "../../src/changes/limits.ts";
import { patient } from "../../src/concurrency/patience.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { auditReader, ORIGIN } from "../audit/audited-organization.ts";
import { openStatementGate } from "../harness/statement-gate.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import {
  eventServer,
  insertThing,
  JOB,
  keeper,
  makeOrganization,
  PERSON,
  RULE,
  thingMade,
  thingsOf,
  waitingOf,
} from "./event-server.ts";

let stores: TestStores;
let sql: TestStores["postgres"];
const SUBSCRIPTIONS = [keeper("first"), keeper("second")];
const TOKEN: Actor = { kind: "token", userId: 5, tokenId: 3, email: "ana@example.com" };
const AGENT: Actor = { kind: "agent", name: "triage", userId: 5, tokenId: 4, email: "ana@example.com" };
const ACTORS: readonly Actor[] = [PERSON, TOKEN, AGENT, RULE, JOB];

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
});
afterAll(() => stores.close());

/** Everything that a change may leave in an organisation. */
async function tracesOf(organizationId: number): Promise<number[]> {
  const [row] = await sql<{ counts: number[] }[]>`
    SELECT ARRAY[
      (SELECT count(*) FROM saved_searches WHERE organization_id = ${organizationId}),
      (SELECT count(*) FROM events WHERE organization_id = ${organizationId}),
      (SELECT count(*) FROM event_deliveries WHERE organization_id = ${organizationId}),
      (SELECT count(*) FROM audit_log WHERE organization_id = ${organizationId}),
      (SELECT count(*) FROM audit_heads WHERE organization_id = ${organizationId})]::integer[] AS counts`;
  return row?.counts ?? [];
}

/** A change with one of everything, told to the list once it is kept. */
function changeAll(
  changes: Changes,
  organizationId: number,
  actor: Actor,
  told: string[] = [],
): Promise<void> {
  return changes.inChange({ organizationId, actor, origin: ORIGIN }, "MAKE_THING", async (change) => {
    await insertThing(change, "made");
    change.record({ resource: "thing:1", after: { name: "made" } });
    change.emit(thingMade, "thing:1", { n: 1 });
    change.afterCommit(() => told.push("told"));
  });
}

describe.each(ACTORS.map((actor): [string, Actor] => [actor.kind, actor]))(
  "a change by a %s",
  (_kind, actor) => {
    test("keeps rows, audit rows and events, tells what follows and wakes the delivery", async () => {
      const organizationId = await makeOrganization(sql);
      const server = eventServer(sql, SUBSCRIPTIONS);
      const told: string[] = [];
      await changeAll(server.changes, organizationId, actor, told);
      expect(await tracesOf(organizationId)).toEqual([1, 1, 2, 1, 1]);
      expect([told, server.woken()]).toEqual([["told"], 1]);
      const reader = auditReader(stores, organizationId);
      expect(await reader.verify()).toMatchObject({ problem: null, checkedRows: 1 });
    });

    test("reaches its organisation only, whatever its statements and events say", async () => {
      const [own, foreign] = [await makeOrganization(sql), await makeOrganization(sql)];
      const { changes } = eventServer(sql, SUBSCRIPTIONS);
      const cause = { organizationId: own, actor, origin: ORIGIN };
      await changeAll(changes, foreign, actor);
      await changes.inChange(cause, "SPY", async ({ tx, record }) => {
        for (const table of ["saved_searches", "events", "event_deliveries", "audit_log"])
          expect(await tx`SELECT 1 FROM ${tx(table)} WHERE organization_id = ${foreign}`).toHaveLength(0);
        const removed = await tx`DELETE FROM event_deliveries WHERE organization_id = ${foreign}`;
        expect(removed.count).toBe(0);
        record({ resource: "thing:1" });
      });
      const intrude = changes.inChange(cause, "INTRUDE", async ({ tx, record }) => {
        record({ resource: "thing:1" });
        await tx`INSERT INTO events (organization_id, kind, subject, payload) VALUES (${foreign}, 'x', 'x', '{}')`;
      });
      await expect(intrude).rejects.toThrow("row-level security");
      const forge = changes.inChange(cause, "FORGE", async ({ tx }) => {
        await tx`UPDATE events SET payload = '{}'`;
      });
      await expect(forge).rejects.toThrow("permission denied");
    });
  },
);

test("a change that says nothing more to Postgres, or asks for too much, is ended by it when nobody waits any longer, and frees what it locked", async () => {
  const organizationId = await makeOrganization(sql);
  const { changes } = eventServer(sql, []);
  const limits = async ({ tx }: Pick<Change, "tx">) => {
    const rows = await tx<{ ms: number }[]>`
      SELECT setting::integer AS ms FROM pg_settings
      WHERE name IN ('idle_in_transaction_session_timeout', 'statement_timeout')`;
    return rows.map(({ ms }) => ms);
  };
  const both = [patient(CHANGE_TIMEOUT_MS), patient(CHANGE_TIMEOUT_MS)];
  expect(await changes.inAnonymousChange(SERVER_ORIGIN, null, limits)).toEqual(both);
  const cause = { organizationId, actor: JOB, origin: SERVER_ORIGIN };
  expect(await changes.inChange(cause, null, limits)).toEqual(both);
});

describe("the audit log", () => {
  test("names persons, tokens and agents by their account, rules and jobs by what they are", async () => {
    const organizationId = await makeOrganization(sql);
    const { changes } = eventServer(sql, []);
    for (const actor of ACTORS) await changeAll(changes, organizationId, actor);
    const { items } = await auditReader(stores, organizationId).list();
    expect(
      items.map(({ actorUserId, actorPatId, actorEmail, meta }) => [
        actorUserId,
        actorPatId,
        actorEmail,
        meta.actor ?? null,
      ]),
    ).toEqual([
      [null, null, "job:sweeper", { kind: "job", name: "sweeper" }],
      [null, null, "rule:17", { kind: "rule", id: 17, name: "Errors of checkout" }],
      [5, 4, "ana@example.com", { kind: "agent", name: "triage" }],
      [5, 3, "ana@example.com", null],
      [5, null, "ana@example.com", null],
    ]);
  });

  test("shows a row of the server itself as its schema and as CSV", async () => {
    const organizationId = await makeOrganization(sql);
    const { changes } = eventServer(sql, []);
    await changes.inChange({ organizationId, actor: JOB, origin: SERVER_ORIGIN }, "SWEEP", async (change) =>
      change.record({ resource: "thing:1" }),
    );
    const reader = auditReader(stores, organizationId);
    const { items } = await reader.list();
    expect(items).toMatchObject([{ actorEmail: "job:sweeper", action: "SWEEP", meta: { ip: "", ua: null } }]);
    expect(await (await reader.get("?format=csv")).text()).toContain(",,,job:sweeper,SWEEP,thing:1,");
  });

  test("has a row of every call, and of rules and jobs what they record", async () => {
    const organizationId = await makeOrganization(sql);
    const { changes } = eventServer(sql, SUBSCRIPTIONS);
    const silent = (actor: Actor): Promise<void> =>
      changes.inChange({ organizationId, actor, origin: ORIGIN }, "MAKE_THING", async (change) => {
        await insertThing(change, actor.kind);
      });
    for (const actor of [PERSON, TOKEN, AGENT])
      await expect(silent(actor)).rejects.toThrow("recorded nothing");
    for (const actor of [RULE, JOB]) await silent(actor);
    expect(await thingsOf(sql, organizationId)).toEqual(["rule", "job"]);
    expect((await auditReader(stores, organizationId).list()).items).toEqual([]);
  });

  test("has the rows of an anonymous call with whom it turned out to be, in every organisation it concerned", async () => {
    const [one, other] = [await makeOrganization(sql), await makeOrganization(sql)];
    const { changes } = eventServer(sql, []);
    const both = (first: number, second: number): Promise<void> =>
      changes.inAnonymousChange(ORIGIN, "JOIN", async ({ by }) => {
        by(first, PERSON).record({ resource: "member:5" });
        by(second, PERSON).record({ resource: "member:5" }, "LEAVE");
      });
    // In opposite orders at once: heads that were locked as they come would wait for each other for ever.
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? both(one, other) : both(other, one))),
    );
    for (const id of [one, other]) {
      const { items } = await auditReader(stores, id).list();
      expect(items.map(({ action }) => action).toSorted()).toEqual([
        ...Array.from({ length: 5 }, () => "JOIN"),
        ...Array.from({ length: 5 }, () => "LEAVE"),
      ]);
    }
    const forgetful = changes.inAnonymousChange(ORIGIN, "JOIN", async ({ by }) => void by(one, PERSON));
    await expect(forgetful).rejects.toThrow("recorded nothing");
  });
});

describe("nothing is left of a change", () => {
  test.each([
    "INSERT INTO saved_searches",
    "pg_advisory_xact_lock",
    "INSERT INTO events",
    "INSERT INTO audit_heads",
    "INSERT INTO audit_log",
    "UPDATE audit_heads SET seq",
    "commit",
  ])("whose server dies before the statement %p", async (statement) => {
    const organizationId = await makeOrganization(sql);
    const url = new URL(stores.postgresUrl);
    const gate = await openStatementGate({ host: url.hostname, port: Number(url.port) });
    url.port = String(gate.port);
    const cut = createPostgres(url.href, { maxConnections: 1 });
    await cut`SELECT 1`;
    gate.stopAt(statement);
    const told: string[] = [];
    const outcome = changeAll(eventServer(cut, SUBSCRIPTIONS).changes, organizationId, PERSON, told).then(
      () => "kept",
      () => "failed",
    );
    await gate.stopped;
    await gate.close();
    expect(await outcome).toBe("failed");
    await cut.end({ timeout: 0 });
    expect(await tracesOf(organizationId)).toEqual([0, 0, 0, 0, 0]);
    expect(told).toEqual([]);
  });

  test("that fails after it emitted", async () => {
    const organizationId = await makeOrganization(sql);
    const server = eventServer(sql, SUBSCRIPTIONS);
    const failing = server.changes.inChange(
      { organizationId, actor: RULE, origin: SERVER_ORIGIN },
      null,
      async (change) => {
        await insertThing(change, "made");
        change.emit(thingMade, "thing:1", { n: 1 });
        throw new Error("no");
      },
    );
    await expect(failing).rejects.toThrow("no");
    expect(await tracesOf(organizationId)).toEqual([0, 0, 0, 0, 0]);
    expect(server.woken()).toBe(0);
  });

  const tooMuch: [string, (emit: (subject: string, payload: object) => void) => void, string][] = [
    [
      "with a payload that is too large",
      (emit) => emit("thing:1", { n: 1, text: "é".repeat(PAYLOAD_MAX_BYTES / 2) }),
      "is too large",
    ],
    ["with a payload of another kind", (emit) => emit("thing:1", { n: "one" }), "is not that of thing.made"],
    [
      "with a subject that is too long",
      (emit) => emit("x".repeat(SUBJECT_MAX_CHARS + 1), { n: 1 }),
      "too long",
    ],
    [
      "with too many events",
      (emit) => {
        for (let n = 0; n <= EVENTS_MAX_OF_CHANGE; n += 1) emit("thing:1", { n });
      },
      "too many events",
    ],
  ];
  test.each(tooMuch)("%s", async (_what, emitAll, message) => {
    const organizationId = await makeOrganization(sql);
    const { changes } = eventServer(sql, SUBSCRIPTIONS);
    const refused = changes.inChange(
      { organizationId, actor: RULE, origin: SERVER_ORIGIN },
      null,
      async (change) => {
        await insertThing(change, "made");
        emitAll((subject, payload) =>
          change.emit({ ...thingMade, schema: thingMade.schema }, subject, untyped(payload)),
        );
      },
    );
    await expect(refused).rejects.toThrow(message);
    expect(await tracesOf(organizationId)).toEqual([0, 0, 0, 0, 0]);
  });
});

/** What a caller without a compiler might pass. */
function untyped(payload: object): { n: number } {
  return JSON.parse(JSON.stringify(payload));
}

test("texts that Postgres' JSON does not take are kept with a replacement", async () => {
  const organizationId = await makeOrganization(sql);
  const { changes } = eventServer(sql, []);
  await changes.inChange({ organizationId, actor: JOB, origin: SERVER_ORIGIN }, null, async (change) =>
    change.emit(thingMade, "thing:\0", { n: 1, text: "a\0b\ud800" }),
  );
  const rows = await sql`SELECT subject, payload FROM events WHERE organization_id = ${organizationId}`;
  expect([...rows]).toEqual([{ subject: "thing:\ufffd", payload: { n: 1, text: "a\ufffdb\ufffd" } }]);
});

test("events have ids in the order of their commits, by which the first of a subject alone is due", async () => {
  const organizationId = await makeOrganization(sql);
  const server = eventServer(sql, [keeper("first")]);
  await server.emit(organizationId, "thing:1", 1, 2);
  await server.emit(organizationId, "thing:2", 3);
  await server.emit(organizationId, "thing:1", 4);
  const waiting = await waitingOf(sql, organizationId);
  expect(waiting.map(({ subject, is_due }) => [subject, is_due])).toEqual([
    ["thing:1", true],
    ["thing:1", false],
    ["thing:2", true],
    ["thing:1", false],
  ]);
});

test("nobody is told where nobody subscribes, and the delivery is not woken", async () => {
  const organizationId = await makeOrganization(sql);
  const server = eventServer(sql, []);
  await server.emit(organizationId, "thing:1", 1);
  expect(await tracesOf(organizationId)).toEqual([0, 1, 0, 0, 0]);
  expect(server.woken()).toBe(0);
});
