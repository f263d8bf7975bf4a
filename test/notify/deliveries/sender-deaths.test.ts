import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import type { Target } from "../../../src/notify/channels/target.ts";
import { takeRestOfTarget } from "../../../src/notify/deliveries/delivery-store.ts";
import { DEATHS_MAX, RATES } from "../../../src/notify/deliveries/limits.ts";
import { takeDue } from "../../../src/notify/deliveries/take-due.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { eventually } from "../../harness/eventually.ts";
import { openStatementGate } from "../../harness/statement-gate.ts";
import { openTcpProxy } from "../../harness/tcp-proxy.ts";
import { hook, Outbox } from "./outbox-fixture.ts";

const EVERY_ROOM = { max: 64, lanes: new Map(), perLane: 4, fullOrganizations: [], ratedTargets: [] };

const outbox = new Outbox();

/** Senders that take the oldest delivery and are not heard of again, one after the other. */
async function dieOften(times: number): Promise<void> {
  const attempts = new Set<number | undefined>();
  for (let deaths = 0; deaths < times; deaths += 1) {
    const [row] = await takeDue(outbox.sql, { ...EVERY_ROOM, max: 1 }, 60_000);
    attempts.add(row?.attempt);
    await outbox.sql`UPDATE deliveries SET next_attempt_at = now() - interval '1 second' WHERE id = ${row?.id ?? 0}`;
  }
  // None of them used up an attempt.
  expect(attempts.size).toBe(1);
}

describe("a sender", () => {
  test("that dies with a delivery uses up no attempt of it", async () => {
    const hears = outbox.receiver(() => new Response(null, { status: 503 }));
    await outbox.tell("x", [hook(hears)]);
    const { sendDue } = outbox.instance();
    await dieOften(DEATHS_MAX - 1);
    await sendDue();
    expect(await outbox.rows()).toMatchObject([{ state: "pending", attempts: 1, last_code: 503 }]);
    await outbox.passTime();
    await sendDue();
    expect(await outbox.rows()).toMatchObject([{ state: "pending", attempts: 2 }]);
  });

  test("that dies with a delivery time and again is not followed by others without end: it is given up and says why", async () => {
    const hears = outbox.receiver();
    await outbox.tell("deadly", [hook(hears)], { isPage: true });
    await dieOften(DEATHS_MAX);
    await outbox.instance().sendDue();
    expect(hears.received).toEqual([]);
    const [row] = await outbox.rows();
    expect(row).toMatchObject({ state: "failed", attempts: 1, last_code: null });
    expect(row?.last_error).toContain("ended while");
  });

  test("forgets deaths once an attempt came to its end, and those of servers that did not count them", async () => {
    const hears = outbox.receiver((_received, nth) => new Response(null, { status: nth === 1 ? 503 : 204 }));
    await outbox.tell("x", [hook(hears)]);
    const { sendDue } = outbox.instance();
    await outbox.sql`
      UPDATE deliveries SET claim_id = '11111111-1111-4111-8111-1111111111ff', attempts = 1`;
    await dieOften(DEATHS_MAX - 2);
    await sendDue();
    await outbox.passTime();
    await dieOften(DEATHS_MAX - 1);
    await sendDue();
    expect(await outbox.rows()).toMatchObject([{ state: "delivered", attempts: 2 }]);
  });

  test("takes into a digest what nobody died with as such, whatever became of the first of it", async () => {
    const rate = RATES.chatA?.messages ?? 0;
    const hears = outbox.receiver();
    const chat: Target = { channel: "chatA", url: hears.url };
    for (let nth = 0; nth < rate; nth += 1) await outbox.tell(`problem ${nth}`, [chat]);
    await outbox.instance().sendDue();
    for (const title of ["died with", "waits"]) await outbox.tell(title, [chat]);
    await dieOften(DEATHS_MAX - 1);
    const [first] = await takeDue(outbox.sql, EVERY_ROOM, 60_000);
    if (first === undefined) throw new Error("nothing was due");
    const rest = await takeRestOfTarget(outbox.sql, first, { max: 10, leaseMs: 60_000 });
    expect([first.deaths, ...rest.map(({ deaths }) => deaths)]).toEqual([DEATHS_MAX - 1, 0]);
  });

  test("gives up what cannot be decrypted any more, and tells the rest of a digest", async () => {
    const rate = RATES.chatA?.messages ?? 0;
    const hears = outbox.receiver();
    const chat: Target = { channel: "chatA", url: hears.url };
    for (let nth = 0; nth < rate + 3; nth += 1) await outbox.tell(`problem ${nth}`, [chat]);
    await outbox.sql`
      UPDATE deliveries SET sealed = 'other'::bytea WHERE id = (SELECT min(id) + ${rate + 1} FROM deliveries)`;
    await outbox.instance().sendDue();
    const states = (await outbox.rows()).map(({ state }) => state);
    expect(states.filter((state) => state === "failed")).toHaveLength(1);
    expect(states.filter((state) => state === "delivered")).toHaveLength(rate + 2);
    expect(hears.received).toHaveLength(rate + 1);
  });

  test("writes down what arrived while Postgres was away once it is back, so that nothing is told twice", async () => {
    const hears = outbox.receiver(() => "hang");
    await outbox.tell("x", [hook(hears)]);
    const url = new URL(outbox.stores.postgresUrl);
    const proxy = await openTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const sql = createPostgres(url.href, { maxConnections: 2 });
    const lines: string[] = [];
    const { sender } = outbox.instance({ sql, onLog: (line) => lines.push(line) });
    sender.start();
    await eventually("it is on its way", () => hears.received.length > 0 || null);
    proxy.cut();
    hears.release();
    await eventually("Postgres is missed", () => lines.length > 0 || null);
    proxy.restore();
    await eventually("it is written", async () => (await outbox.rows())[0]?.state === "delivered" || null);
    expect(hears.received).toHaveLength(1);
    await sender.stop(1_000);
    await sql.end({ timeout: 0 });
    await proxy.close();
  });

  test("gives back what it could not tell before it was stopped, so that nobody waits for its lease", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the server has no port");
    await outbox.tell("x", [{ channel: "webhook", url: `http://127.0.0.1:${address.port}` }]);
    const { sender } = outbox.instance();
    sender.start();
    await eventually("it is on its way", () => sockets.length > 0 || null);
    const stopped = sender.stop(60_000);
    for (const socket of sockets) socket.destroy();
    await stopped;
    server.close();
    const [row] = await outbox.rows();
    expect(row).toMatchObject({ state: "pending", attempts: 0 });
    expect(row?.due_in_sec).toBeLessThanOrEqual(0);
  });

  const cuts: [string, number][] = [
    ["WITH due AS MATERIALIZED", 200],
    ["AS counted", 200],
    ["SET state = 'delivered'", 200],
    ["SET last_code", 500],
    ['SET "claim_id" = NULL, "next_attempt_at"', 500],
  ];
  test.each(cuts)(
    "that is cut off before the statement %p loses nothing: the receiver hears it under the same id",
    async (statement, firstAnswer) => {
      const hears = outbox.receiver(
        (_received, nth) => new Response(null, { status: nth === 1 ? firstAnswer : 200 }),
      );
      await outbox.tell("wake up", [hook(hears)], { isPage: true });
      const url = new URL(outbox.stores.postgresUrl);
      const gate = await openStatementGate({ host: url.hostname, port: Number(url.port) });
      url.port = String(gate.port);
      const cut = createPostgres(url.href, { maxConnections: 1 });
      await cut`SELECT 1`;
      gate.stopAt(statement);
      const { sender } = outbox.instance({ sql: cut });
      const outcome = sender.sendDue(new AbortController().signal).catch(() => undefined);
      await gate.stopped;
      await gate.close();
      await outcome;
      await sender.stop(0);
      await cut.end({ timeout: 0 });
      const { sendDue } = outbox.instance();
      await eventually("it is told", async () => {
        await outbox.passTime();
        await sendDue();
        return (await outbox.rows())[0]?.state === "delivered" || null;
      });
      expect(hears.received.length).toBeGreaterThan(0);
      expect(new Set(hears.received.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
    },
  );
});
