/** Live tails of one server, over real connections. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { LOG_ID_STEP } from "../../../../ingest/index.ts";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { EventReader } from "./event-reader.ts";
import {
  makeSession,
  makeTenant,
  openTail,
  postSession,
  send,
  sendTogether,
  startTailServer,
  type TailServer,
} from "./tail-server.ts";

let stores: TestStores;
let server: TailServer;

beforeAll(async () => {
  stores = await openTestStores();
  server = await startTailServer(stores, { tails: { commentIntervalMs: 50, credentialCheckMs: 50 } });
});

afterAll(async () => {
  await server.close();
  await stores.close();
});

describe("an open tail", () => {
  test("shows what is acknowledged after it was opened, in order, and nothing from before", async () => {
    const tenant = await makeTenant(stores);
    await send(server, tenant, [{ message: "before" }]);
    const tail = await openTail(server, await makeSession(server, tenant));
    const messages = Array.from({ length: 300 }, (_, i) => `entry ${i}`);
    for (let i = 0; i < 300; i += 30)
      await send(
        server,
        tenant,
        messages.slice(i, i + 30).map((message) => ({ message })),
      );
    expect(await tail.haveMessages(300)).toEqual(messages);
    tail.close();
  });

  test("shows an entry exactly as it is read by its id", async () => {
    const tenant = await makeTenant(stores);
    const tail = await openTail(server, await makeSession(server, tenant));
    await send(server, tenant, [
      {
        message: "\ufeffall\nthere is \u2028 😀",
        ts: "2026-01-02T03:04:05.123456789Z",
        level: "warn",
        service: "api",
        source: "s",
        host: "h",
        event_id: "e-1",
        attrs: {
          text: "x",
          number: 0.1,
          deep: { list: [1, "two", null] },
          no: false,
          "": "",
        },
      },
      { message: "least" },
    ]);
    await tail.haveMessages(2);
    for (const { data, id } of tail.of("log")) {
      const entry: { id: string } = JSON.parse(data);
      const stored = await eventually("the entry is stored", async () => {
        const response = await fetch(`${server.url}/api/v1/logs/${entry.id}`, {
          headers: { authorization: `Bearer ${tenant.token}` },
        });
        return response.status === 200 ? await response.text() : null;
      });
      expect(data).toBe(stored);
      expect(id).toMatch(/^[0-9a-z-]+$/);
    }
    tail.close();
  });

  test("shows nothing of another organization", async () => {
    const [mine, theirs] = [await makeTenant(stores), await makeTenant(stores)];
    const tail = await openTail(server, await makeSession(server, mine));
    await Promise.all([
      send(server, theirs, [{ message: "theirs" }]),
      send(server, mine, [{ message: "mine" }]),
      send(server, theirs, [{ message: "theirs too" }]),
    ]);
    await tail.haveMessages(1);
    await send(server, mine, [{ message: "mine again" }]);
    expect(await tail.haveMessages(2)).toEqual(["mine", "mine again"]);
    tail.close();
  });

  test("shows nothing of another organization whose entries became durable in the same batch", async () => {
    const [older, mine, younger] = [
      await makeTenant(stores),
      await makeTenant(stores),
      await makeTenant(stores),
    ];
    const tenants = [older, mine, younger];
    const tails = await Promise.all(
      tenants.map(async (tenant) => openTail(server, await makeSession(server, tenant))),
    );
    await Promise.all(tails.map((tail) => tail.next("")));
    for (let round = 0; round < 3; round++)
      await sendTogether(
        server,
        [older, mine, younger, mine].map((tenant, i) => [
          tenant,
          [{ message: `${round} of ${tenants.indexOf(tenant)}, ${i}` }],
        ]),
      );
    const shown = await Promise.all(tails.map((tail, i) => tail.haveMessages(i === 1 ? 6 : 3)));
    expect(shown[0]).toEqual(["0 of 0, 0", "1 of 0, 0", "2 of 0, 0"]);
    expect(shown[1]).toEqual([0, 1, 2].flatMap((round) => [`${round} of 1, 1`, `${round} of 1, 3`]));
    expect(shown[2]).toEqual(["0 of 2, 2", "1 of 2, 2", "2 of 2, 2"]);
    // One of another organization stands between one's own, so they were one batch.
    const [first, second] = (tails[1]?.entries ?? []).map(({ id }) => BigInt(String(id)));
    expect((second ?? 0n) - (first ?? 0n)).toBe(BigInt(2 * LOG_ID_STEP));
    for (const tail of tails) tail.close();
  });

  test("shows nothing of a request that was refused, and a repeated event once", async () => {
    const tenant = await makeTenant(stores);
    const tail = await openTail(server, await makeSession(server, tenant));
    await expect(send(server, tenant, [{ message: "fine" }, { message: "" }])).rejects.toThrow("400");
    await send(server, tenant, [{ message: "once", event_id: "a" }]);
    await send(server, tenant, [{ message: "once", event_id: "a" }, { message: "last" }]);
    expect(await tail.haveMessages(2)).toEqual(["once", "last"]);
    tail.close();
  });

  test("keeps to its filter", async () => {
    const tenant = await makeTenant(stores);
    const tail = await openTail(
      server,
      await makeSession(server, tenant, { q: 'time -"no time" OR STRASSE', service: "api", level: "error" }),
    );
    const entry = { service: "api", level: "error" };
    await send(server, tenant, [
      { ...entry, message: "Timeout" },
      { ...entry, message: "no time" },
      { ...entry, message: "timeout", level: "warn" },
      { ...entry, message: "timeout", service: "api2" },
      { message: "timeout" },
      { ...entry, message: "strasse" },
      { ...entry, message: "end of time" },
    ]);
    expect(await tail.haveMessages(3)).toEqual(["Timeout", "strasse", "end of time"]);
    tail.close();
  });

  test("narrows the filter of its session by the parameters of the stream", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant, { q: "disk" });
    const url = `${server.url}/api/v1/logs/tail?token=${session}&q=full&level=error`;
    const tail = await EventReader.open(url);
    await send(server, tenant, [
      { message: "disk full", level: "error" },
      { message: "disk", level: "error" },
      { message: "full", level: "error" },
      { message: "disk is full", level: "error" },
    ]);
    expect(await tail.haveMessages(2)).toEqual(["disk full", "disk is full"]);
    tail.close();
  });

  test("sends comments with its position", async () => {
    const tail = await openTail(server, await makeSession(server, await makeTenant(stores)));
    await eventually("three comments", () => tail.comments >= 3);
    expect(tail.lastEventId).not.toBe("");
    expect(tail.retryMs).toBe(2000);
    tail.close();
  });
});

test("a quiet tail outlives the time after which a silent connection is closed", async () => {
  const quiet = await startTailServer(stores, { tails: { commentIntervalMs: 60_000 }, idleTimeoutSec: 1 });
  const tenant = await makeTenant(stores);
  const tail = await openTail(quiet, await makeSession(quiet, tenant));
  const silent = await silentConnection(quiet.url);
  await eventually("a silent connection that came later is closed", () => silent.isClosed);
  expect(tail.isEnded).toBe(false);
  await send(quiet, tenant, [{ message: "at last" }]);
  expect(await tail.haveMessages(1)).toEqual(["at last"]);
  tail.close();
  await quiet.close();
});

/** A connection that says nothing after it was answered once. */
async function silentConnection(url: string): Promise<{ readonly isClosed: boolean }> {
  const { hostname, port } = new URL(url);
  const state = { isClosed: false };
  const answered = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname);
  socket.on("data", () => answered.resolve());
  socket.on("error", () => undefined);
  socket.on("close", () => {
    state.isClosed = true;
  });
  socket.write(`GET /nothing HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await answered.promise;
  return state;
}

describe("a credential", () => {
  test("opens a stream itself, with the filter of the parameters", async () => {
    const tenant = await makeTenant(stores);
    const tail = await EventReader.open(`${server.url}/api/v1/logs/tail?q=yes`, {
      authorization: `Bearer ${tenant.token}`,
    });
    await send(server, tenant, [{ message: "no" }, { message: "yes" }]);
    expect(await tail.haveMessages(1)).toEqual(["yes"]);
    tail.close();
  });

  test("of a session may come as a bearer token", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const tail = await EventReader.open(`${server.url}/api/v1/logs/tail`, {
      authorization: `Bearer ${session}`,
    });
    await send(server, tenant, [{ message: "shown" }]);
    await tail.haveMessages(1);
    tail.close();
  });

  test.each(["tail_unknown", "nonsense", `tail_${"a".repeat(43)}`])("%s is refused", async (token) => {
    expect((await openTail(server, token)).status).toBe(401);
  });

  test("without the scope makes no session and opens no stream", async () => {
    const { token } = await makeTenant(stores, ["logs:write"]);
    expect((await postSession(server, token, {})).status).toBe(403);
    const tail = await EventReader.open(`${server.url}/api/v1/logs/tail`, {
      authorization: `Bearer ${token}`,
    });
    expect(tail.status).toBe(403);
    expect((await EventReader.open(`${server.url}/api/v1/logs/tail`)).status).toBe(401);
  });

  test("that is revoked ends its streams and its sessions", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const tails = [
      await openTail(server, session),
      await EventReader.open(`${server.url}/api/v1/logs/tail`, { authorization: `Bearer ${tenant.token}` }),
    ];
    await stores.postgres`UPDATE personal_access_tokens SET revoked_at = now() WHERE user_id = ${tenant.userId}`;
    for (const tail of tails) {
      expect(JSON.parse((await tail.next("error")).data)).toMatchObject({ code: "UNAUTHENTICATED" });
      await eventually("the stream ends", () => tail.isEnded);
    }
    expect((await openTail(server, session)).status).toBe(401);
  });

  test("of an expired session is refused; using a session moves its end", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const { postgres: sql } = stores;
    const soon = new Date(Date.now() + 60_000);
    await sql`UPDATE tail_sessions SET expires_at = ${soon} WHERE organization_id = ${tenant.organizationId}`;
    (await openTail(server, session)).close();
    const [row] = await sql<{ expires_at: Date }[]>`
      SELECT expires_at FROM tail_sessions WHERE organization_id = ${tenant.organizationId}`;
    expect(row?.expires_at.getTime()).toBeGreaterThan(Date.now() + 59 * 60_000);
    await eventually("expired", async () => {
      await sql`UPDATE tail_sessions SET expires_at = now() WHERE organization_id = ${tenant.organizationId}`;
      return (await openTail(server, session)).status === 401;
    });
  });

  test("is stored as a hash and never logged", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const tail = await openTail(server, session);
    await tail.next("");
    tail.close();
    await openTail(server, `${session}x`);
    expect(server.logged().join("\n")).not.toContain(session.slice(5));
    const rows = await stores.postgres`SELECT t::text AS text FROM tail_sessions t`;
    expect(rows.map((row) => String(row.text)).join("\n")).not.toContain(session.slice(5));
  });
});
