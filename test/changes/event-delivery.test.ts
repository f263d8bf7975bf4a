/** Subscribers are told of every event exactly once, in order, whatever dies, fails or competes in between. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Change } from "../../src/changes/change.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  holdDelivery,
  postponeDelivery,
  setDeliveryAside,
  settleDeliveries,
} from "../../src/changes/events/delivery-claims.ts";
import { EventDelivery } from "../../src/changes/events/event-delivery.ts";
import { removeOldEvents } from "../../src/changes/events/event-store.ts";
import { type Subscription, subscribe } from "../../src/changes/events/subscription.ts";
import {
  DELIVERIES_MAX_RUNNING_OF_ONE,
  DELIVERIES_TOGETHER,
  DELIVERY_ATTEMPTS_MAX,
} from "../../src/changes/limits.ts";
import { DependencyError } from "../../src/errors.ts";
import { createLogger } from "../../src/log.ts";
import { askPostgres } from "../../src/storage/ask-postgres.ts";
import { inOrganization } from "../../src/storage/organization-transaction.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { auditReader } from "../audit/audited-organization.ts";
import { eventually } from "../harness/eventually.ts";
import { openStatementGate } from "../harness/statement-gate.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { openTcpProxy } from "../harness/tcp-proxy.ts";
import {
  eventServer,
  insertThing,
  keeper,
  letTimePass,
  makeOrganization,
  thingCopied,
  thingMade,
  thingsOf,
  waitingOf,
} from "./event-server.ts";

let stores: TestStores;
let sql: TestStores["postgres"];

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
});
afterAll(() => stores.close());
afterEach(async () => {
  await sql`DELETE FROM events`;
});

/** One delivery of whoever is first, for a minute. */
const CLAIMING = {
  subscribers: ["keep"],
  running: new Map<number, number>(),
  maxRunningOfOne: 1,
  max: 1,
  together: 1,
  after: 0,
  leaseMs: 60_000,
};

/** `keep thing:1 3` and so on. */
function told(name: string, subject: string, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `${name} ${subject} ${from + i}`);
}

test("every subscriber is told of every event, in order, by a job of its own name", async () => {
  const organizationId = await makeOrganization(sql);
  const recording = keeper("recording", async (n, change) =>
    change.record({ resource: `thing:${n}` }, "HEAR_OF_THING"),
  );
  const server = eventServer(sql, [keeper("silent"), recording]);
  for (let n = 1; n <= 5; n += 1) await server.emit(organizationId, "thing:1", n);
  await server.deliver();
  const things = await thingsOf(sql, organizationId);
  for (const name of ["silent", "recording"])
    expect(things.filter((thing) => thing.startsWith(name))).toEqual(told(name, "thing:1", 1, 5));
  expect(await waitingOf(sql, organizationId)).toEqual([]);
  const { items } = await auditReader(stores, organizationId).list();
  expect(items.map(({ actorEmail, resource }) => `${actorEmail} ${resource}`)).toEqual(
    [5, 4, 3, 2, 1].map((n) => `job:recording thing:${n}`),
  );
});

test("a started delivery is woken by the commit, and by what its handlers emit", async () => {
  const organizationId = await makeOrganization(sql);
  const copying = keeper("copy", async (n, change) => change.emit(thingCopied, "thing:1", { n }));
  const copied = subscribe(thingCopied, "copied", async ({ payload: { n } }, change) =>
    insertThing(change, `copied ${n}`),
  );
  const server = eventServer(sql, [copying, copied]);
  await server.emit(organizationId, "thing:1", 1);
  server.delivery.start();
  await eventually("the copy", async () => (await thingsOf(sql, organizationId)).includes("copied 1"));
  await server.delivery.stop();
  expect(await thingsOf(sql, organizationId)).toEqual(["copy thing:1 1", "copied 1"]);
});

describe("what a handler did is there exactly once when its server dies", () => {
  test.each([
    "SELECT 1 FROM event_deliveries",
    "INSERT INTO saved_searches",
    "DELETE FROM event_deliveries",
    "commit",
  ])("before the statement %p", async (statement) => {
    const organizationId = await makeOrganization(sql);
    const subscriptions = [keeper("keep")];
    const whole = eventServer(sql, subscriptions);
    await whole.emit(organizationId, "thing:1", 1, 2);
    const url = new URL(stores.postgresUrl);
    const gate = await openStatementGate({ host: url.hostname, port: Number(url.port) });
    url.port = String(gate.port);
    const cut = createPostgres(url.href, { maxConnections: 1 });
    const dying = eventServer(cut, subscriptions);
    gate.stopAt(statement);
    await dying.delivery.deliverDue(new AbortController().signal);
    await gate.stopped;
    await gate.close();
    // The dead do not try again.
    await Promise.all([dying.delivery.stop(), cut.end({ timeout: 0 })]);
    await dying.delivery.settled();
    expect(await thingsOf(sql, organizationId)).toEqual([]);
    // Its lease is still on.
    await whole.deliver();
    expect(await thingsOf(sql, organizationId)).toEqual([]);
    await letTimePass(sql);
    await whole.deliver();
    expect(await thingsOf(sql, organizationId)).toEqual(told("keep", "thing:1", 1, 2));
  });
});

test("an attempt that goes on when its lease is over is not doubled by another instance", async () => {
  const organizationId = await makeOrganization(sql);
  const server = eventServer(sql, [keeper("keep")]);
  await server.emit(organizationId, "thing:1", 1);
  const [claimed] = await claimDeliveries(sql, { ...CLAIMING, leaseMs: 0 });
  if (claimed === undefined) throw new Error("nothing was claimed");
  await inOrganization(sql, organizationId, async (tx) => {
    await holdDelivery(tx, claimed);
    await server.deliver();
    await settleDeliveries(tx, [claimed]);
  });
  await server.deliver();
  expect(await thingsOf(sql, organizationId)).toEqual([]);
  expect(await waitingOf(sql, organizationId)).toEqual([]);
});

test("a handler that hangs loses its transaction, and another instance delivers", async () => {
  const organizationId = await makeOrganization(sql);
  const begun = Promise.withResolvers<void>();
  const hanging = keeper("keep", () => {
    begun.resolve();
    return new Promise<never>(() => undefined);
  });
  const own = createPostgres(stores.postgresUrl, { maxConnections: 1 });
  const { changes, metrics } = eventServer(own, []);
  const parts = { sql: own, changes, subscriptions: [hanging], metrics: metrics.events };
  const stuck = new EventDelivery({ ...parts, log: createLogger("silent"), silenceMaxMs: 100 });
  const server = eventServer(sql, [keeper("keep")]);
  await server.emit(organizationId, "thing:1", 1);
  await stuck.deliverDue(new AbortController().signal);
  await begun.promise;
  await letTimePass(sql);
  await server.deliver();
  expect(await thingsOf(sql, organizationId)).toEqual(["keep thing:1 1"]);
  await own.end({ timeout: 0 });
});

test("an attempt is not given up because another instance has its row locked for a moment", async () => {
  const organizationId = await makeOrganization(sql);
  const server = eventServer(sql, [keeper("keep")]);
  await server.emit(organizationId, "thing:1", 1);
  const [claimed] = await claimDeliveries(sql, CLAIMING);
  if (claimed === undefined) throw new Error("nothing was claimed");
  const looked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const looking = sql.begin(async (tx) => {
    await tx`SELECT 1 FROM event_deliveries WHERE event_id = ${claimed.eventId} FOR UPDATE`;
    looked.resolve();
    await release.promise;
  });
  await looked.promise;
  const held = inOrganization(sql, organizationId, (tx) => holdDelivery(tx, claimed));
  await Promise.race([
    held,
    eventually("the attempt waits", async () => {
      const waiting = await sql`
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%event_deliveries%'`;
      return waiting.length > 0;
    }),
  ]);
  release.resolve();
  await looking;
  expect(await held).toMatchObject({ subject: "thing:1" });
});

test("an attempt that was overtaken before its transaction began does nothing", async () => {
  const organizationId = await makeOrganization(sql);
  const server = eventServer(sql, [keeper("keep")]);
  await server.emit(organizationId, "thing:1", 1);
  const [first] = await claimDeliveries(sql, CLAIMING);
  expect(await claimDeliveries(sql, CLAIMING)).toEqual([]);
  await letTimePass(sql);
  const [second] = await claimDeliveries(sql, CLAIMING);
  if (first === undefined || second === undefined) throw new Error("nothing was claimed");
  const hold = (claimed: ClaimedDelivery): Promise<unknown> =>
    inOrganization(sql, organizationId, (tx) => holdDelivery(tx, claimed));
  expect(await hold(first)).toBeNull();
  expect(await hold(second)).toMatchObject({ subject: "thing:1" });
  // Nor does it put off or set aside what is another's.
  await postponeDelivery(sql, first, { delayMs: 0, error: "late", isUncounted: true });
  await setDeliveryAside(sql, first, "late");
  expect(await waitingOf(sql, organizationId)).toMatchObject([
    { attempts: 2, is_due: false, is_set_aside: false, last_error: null },
  ]);
});

test("several instances share the work: nothing is done twice, nothing is left, and each subject is in order", async () => {
  const organizations = await Promise.all(Array.from({ length: 4 }, () => makeOrganization(sql)));
  const second = createPostgres(stores.postgresUrl);
  try {
    const subscriptions = [keeper("a"), keeper("b")];
    const servers = [
      eventServer(sql, subscriptions),
      eventServer(second, subscriptions),
      eventServer(second, subscriptions),
    ];
    const subjects = ["thing:1", "thing:2", "thing:3"];
    for (const server of servers) server.delivery.start();
    // Emitted while they deliver, by all of them at once.
    await Promise.all(
      organizations.flatMap((id, i) =>
        subjects.map(async (subject, j) => {
          for (let n = 1; n <= 8; n += 1) await servers[(i + j + n) % 3]?.emit(id, subject, n);
        }),
      ),
    );
    await eventually("the end", async () => {
      for (const server of servers) server.delivery.wake();
      const [row] = await sql<{ left: number }[]>`SELECT count(*)::integer AS left FROM event_deliveries`;
      return row?.left === 0;
    });
    await Promise.all(servers.map(({ delivery }) => delivery.stop()));
    for (const id of organizations) {
      const things = await thingsOf(sql, id);
      expect(things).toHaveLength(48);
      for (const name of ["a", "b"])
        for (const subject of subjects)
          expect(things.filter((thing) => thing.startsWith(`${name} ${subject} `))).toEqual(
            told(name, subject, 1, 8),
          );
    }
  } finally {
    await second.end();
  }
});

test("what a subscriber is to be told of one organisation shares a transaction, what is tried again has its own", async () => {
  const organizationId = await makeOrganization(sql);
  const transactions: string[] = [];
  const noting = keeper("keep", async (_n, { tx }) => {
    const [row] = await tx<{ id: string }[]>`SELECT pg_current_xact_id()::text AS id`;
    transactions.push(row?.id ?? "");
  });
  const server = eventServer(sql, [noting]);
  const all = DELIVERIES_TOGETHER + 3;
  for (let n = 1; n <= all; n += 1) await server.emit(organizationId, `thing:${n}`, n);
  await server.deliver();
  expect(transactions).toHaveLength(all);
  expect(new Set(transactions).size).toBe(2);
  transactions.length = 0;
  for (let n = 1; n <= all; n += 1) await server.emit(organizationId, `thing:${n}`, n);
  await sql`UPDATE event_deliveries SET attempts = 1 WHERE subject = 'thing:1' OR subject = 'thing:2'`;
  await server.deliver();
  expect(transactions).toHaveLength(all);
  // Two by themselves; the others are two more than share a place.
  expect(new Set(transactions).size).toBe(4);
  expect(await waitingOf(sql, organizationId)).toEqual([]);
});

describe("a poisoned event", () => {
  const failing = (isPoison: (n: number) => boolean): Subscription =>
    keeper("keep", async (n) => {
      if (isPoison(n)) throw new Error("cannot\0 be done");
    });

  test("holds up its subject while it is tried again, and nobody else", async () => {
    const [sick, healthy] = [await makeOrganization(sql), await makeOrganization(sql)];
    let isPoisoned = true;
    const server = eventServer(sql, [failing((n) => isPoisoned && n === 1)]);
    await server.emit(sick, "thing:1", 1, 2);
    await server.emit(sick, "thing:2", 3);
    await server.emit(healthy, "thing:1", 4);
    await server.deliver();
    expect(await thingsOf(sql, sick)).toEqual(["keep thing:2 3"]);
    expect(await thingsOf(sql, healthy)).toEqual(["keep thing:1 4"]);
    expect(await waitingOf(sql, sick)).toMatchObject([
      { attempts: 1, is_due: false, is_set_aside: false, last_error: "cannot\ufffd be done" },
      { attempts: 0, is_due: false, is_set_aside: false },
    ]);
    isPoisoned = false;
    await letTimePass(sql);
    await server.deliver();
    expect(await thingsOf(sql, sick)).toEqual(["keep thing:2 3", "keep thing:1 1", "keep thing:1 2"]);
  });

  test("is set aside in the end, counted, and its subject goes on", async () => {
    const organizationId = await makeOrganization(sql);
    const server = eventServer(sql, [failing((n) => n === 1)]);
    await server.emit(organizationId, "thing:1", 1, 2, 3);
    for (let attempt = 1; attempt <= DELIVERY_ATTEMPTS_MAX; attempt += 1) {
      expect(await thingsOf(sql, organizationId)).toEqual([]);
      await letTimePass(sql);
      await server.deliver();
    }
    expect(await thingsOf(sql, organizationId)).toEqual(told("keep", "thing:1", 2, 3));
    const left = await waitingOf(sql, organizationId);
    expect(left).toMatchObject([{ attempts: DELIVERY_ATTEMPTS_MAX, is_due: false, is_set_aside: true }]);
    const { text } = await server.metrics.expose();
    expect(text).toContain('obs_event_deliveries_total{outcome="set_aside"} 1\n');
    expect(text).toContain(`obs_event_deliveries_total{outcome="failed"} ${DELIVERY_ATTEMPTS_MAX - 1}\n`);
    expect(text).toContain('obs_event_deliveries_total{outcome="delivered"} 2\n');
    // Looked at in the background.
    server.delivery.start();
    await eventually("the gauge", async () =>
      (await server.metrics.expose()).text.includes("obs_event_deliveries_set_aside 1\n"),
    );
    await server.delivery.stop();
    await server.emit(organizationId, "thing:1", 4);
    await server.deliver();
    expect(await thingsOf(sql, organizationId)).toEqual(told("keep", "thing:1", 2, 4));
  });

  test("that kills its server each time is set aside too, for an attempt counts before it begins", async () => {
    const organizationId = await makeOrganization(sql);
    const server = eventServer(sql, [keeper("keep")]);
    await server.emit(organizationId, "thing:1", 1);
    await sql`UPDATE event_deliveries SET attempts = ${DELIVERY_ATTEMPTS_MAX - 1}`;
    const failingNow = eventServer(sql, [failing(() => true)]);
    await failingNow.deliver();
    expect(await waitingOf(sql, organizationId)).toMatchObject([{ is_set_aside: true }]);
  });

  test("is none that fails because a store is away: the attempt does not count", async () => {
    const organizationId = await makeOrganization(sql);
    const away = keeper("keep", async () => {
      throw new DependencyError("postgres", "away", { retryable: true });
    });
    const server = eventServer(sql, [away]);
    await server.emit(organizationId, "thing:1", 1);
    await sql`UPDATE event_deliveries SET attempts = ${DELIVERY_ATTEMPTS_MAX}`;
    await server.deliver();
    expect(await waitingOf(sql, organizationId)).toMatchObject([
      { attempts: DELIVERY_ATTEMPTS_MAX, is_due: false, is_set_aside: false },
    ]);
  });

  test("of a payload that the server does not know is one", async () => {
    const organizationId = await makeOrganization(sql);
    const server = eventServer(sql, [keeper("keep")]);
    await server.emit(organizationId, "thing:1", 1);
    await sql`UPDATE events SET payload = '{"n": "one"}'`;
    await server.deliver();
    expect(await waitingOf(sql, organizationId)).toMatchObject([
      { attempts: 1, last_error: "a stored payload is not that of thing.made" },
    ]);
  });
});

describe("organisations have their turns", () => {
  test("one with a long queue keeps another waiting for a turn at most", async () => {
    const [busy, quiet] = [await makeOrganization(sql), await makeOrganization(sql)];
    const order: number[] = [];
    const noting = keeper("keep", async (_n, { organizationId }) => void order.push(organizationId));
    const server = eventServer(sql, [noting]);
    const turn = DELIVERIES_MAX_RUNNING_OF_ONE * DELIVERIES_TOGETHER;
    for (let n = 1; n <= 3 * turn; n += 1) await server.emit(busy, `thing:${n}`, n);
    await server.emit(quiet, "thing:1", 1);
    await server.deliver();
    expect(order).toHaveLength(3 * turn + 1);
    expect(order.indexOf(quiet)).toBeLessThan(2 * turn);
  });

  test("one whose handlers hang leaves a place to the others", async () => {
    const [hanging, other] = [await makeOrganization(sql), await makeOrganization(sql)];
    const held = Promise.withResolvers<void>();
    const transactions = new Set<Change>();
    const slow = keeper("keep", async (_n, change) => {
      if (change.organizationId !== hanging) return;
      transactions.add(change);
      await held.promise;
    });
    const server = eventServer(sql, [slow]);
    server.delivery.start();
    for (let n = 1; n <= 6; n += 1) {
      await server.emit(hanging, `thing:${n}`, n);
      server.delivery.wake();
    }
    const areFull = (): boolean => transactions.size === DELIVERIES_MAX_RUNNING_OF_ONE;
    await eventually("as many as there are places for", areFull);
    for (let n = 1; n <= 4; n += 1) await server.emit(other, "thing:1", n);
    server.delivery.wake();
    await eventually("the other", async () => (await thingsOf(sql, other)).length === 4);
    expect(areFull()).toBe(true);
    expect(await thingsOf(sql, hanging)).toEqual([]);
    held.resolve();
    await eventually("the rest", async () => (await thingsOf(sql, hanging)).length === 6);
    await server.delivery.stop();
  });

  test("also those behind more than have a place, and behind events that only a newer server knows", async () => {
    const unknown = await Promise.all(Array.from({ length: 5 }, () => makeOrganization(sql)));
    const known = await Promise.all(Array.from({ length: 5 }, () => makeOrganization(sql)));
    const newer = eventServer(sql, [keeper("newer")]);
    for (const id of unknown) await newer.emit(id, "thing:1", 1);
    const server = eventServer(sql, [keeper("keep")]);
    for (const id of known) await server.emit(id, "thing:1", 1);
    await server.deliver();
    for (const id of known) expect(await thingsOf(sql, id)).toEqual(["keep thing:1 1"]);
    for (const id of unknown) expect(await waitingOf(sql, id)).toMatchObject([{ attempts: 0, is_due: true }]);
  });
});

test("a subscriber sees its organisation only, and further where it says why", async () => {
  const [own, foreign] = [await makeOrganization(sql), await makeOrganization(sql)];
  const seen: Record<string, number> = {};
  const look =
    (name: string) =>
    async (_event: unknown, { tx }: Change) => {
      seen[name] = (await tx`SELECT 1 FROM organizations WHERE id IN ${tx([own, foreign])}`).length;
    };
  const server = eventServer(sql, [
    subscribe(thingMade, "bound", look("bound")),
    subscribe(thingMade, "free", look("free"), { reachesFurther: "this suite wants to see" }),
  ]);
  await server.emit(own, "thing:1", 1);
  await server.deliver();
  expect(seen).toEqual({ bound: 1, free: 2 });
});

test("what is not delivered for long makes the server degraded", async () => {
  const organizationId = await makeOrganization(sql);
  const newer = eventServer(sql, [keeper("newer")]);
  await newer.emit(organizationId, "thing:1", 1);
  const server = eventServer(sql, [keeper("keep")]);
  expect(server.delivery.status()).toEqual({ state: "up" });
  await sql`UPDATE events SET happened_at = now() - interval '10 minutes'`;
  server.delivery.start();
  await eventually("the state", () => server.delivery.status().state === "degraded");
  await server.delivery.stop();
});

test("housekeeping forgets old events that everybody was told of or that were set aside, and no others", async () => {
  const organizationId = await makeOrganization(sql);
  const server = eventServer(sql, [keeper("keep")]);
  for (const n of [1, 2, 3, 4]) await server.emit(organizationId, `thing:${n}`, n);
  await sql`DELETE FROM event_deliveries WHERE subject = 'thing:1' OR subject = 'thing:4'`;
  await sql`UPDATE event_deliveries SET due_at = NULL, set_aside_at = now() WHERE subject = 'thing:2'`;
  await sql`UPDATE events SET happened_at = now() - interval '31 days' WHERE subject <> 'thing:4'`;
  expect(await removeOldEvents(sql, Date.now(), 1)).toBe(1);
  expect(await removeOldEvents(sql, Date.now(), 10)).toBe(1);
  expect(await removeOldEvents(sql, Date.now(), 10)).toBe(0);
  const left = await sql<{ subject: string }[]>`SELECT subject FROM events ORDER BY id`;
  expect(left.map(({ subject }) => subject)).toEqual(["thing:3", "thing:4"]);
});

test("a delivery that Postgres went away from is put off when it is back: what is behind it waits for no lease", async () => {
  const organizationId = await makeOrganization(sql);
  const url = new URL(stores.postgresUrl);
  const proxy = await openTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  const cut = createPostgres(url.href, { maxConnections: 2 });
  const [begun, lost] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = eventServer(cut, [
    keeper("keep", async () => {
      begun.resolve();
      await lost.promise;
    }),
  ]);
  await server.emit(organizationId, "thing:1", 1);
  await server.delivery.deliverDue(new AbortController().signal);
  await begun.promise;
  proxy.cut();
  lost.resolve();
  await expect(askPostgres(() => cut`SELECT 1`)).rejects.toThrow(DependencyError);
  proxy.restore();
  await server.delivery.settled();
  expect(await waitingOf(sql, organizationId)).toMatchObject([
    { attempts: 0, is_set_aside: false, last_error: expect.any(String) },
  ]);
  await cut.end({ timeout: 0 });
  await proxy.close();
});
