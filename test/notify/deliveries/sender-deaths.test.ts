import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import type { Target } from "../../../src/notify/channels/target.ts";
import { RATES } from "../../../src/notify/deliveries/limits.ts";
import { takeDue } from "../../../src/notify/deliveries/take-due.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { eventually } from "../../harness/eventually.ts";
import { openStatementGate } from "../../harness/statement-gate.ts";
import { openTcpProxy } from "../../harness/tcp-proxy.ts";
import { hook, Outbox } from "./outbox-fixture.ts";

const EVERY_ROOM = { max: 64, lanes: new Map(), perLane: 4, fullOrganizations: [], ratedTargets: [] };

const outbox = new Outbox();

describe("a sender", () => {
  test("that dies with a delivery uses up no attempt of it", async () => {
    const hears = outbox.receiver(() => new Response(null, { status: 503 }));
    await outbox.tell("x", [hook(hears)]);
    const { sendDue } = outbox.instance();
    for (let deaths = 0; deaths < 20; deaths += 1) {
      const [row] = await takeDue(outbox.sql, EVERY_ROOM, 60_000);
      expect(row?.attempt).toBe(1);
      await outbox.passTime();
    }
    await sendDue();
    expect(await outbox.rows()).toMatchObject([{ state: "pending", attempts: 1, last_code: 503 }]);
    await outbox.passTime();
    await sendDue();
    expect(await outbox.rows()).toMatchObject([{ state: "pending", attempts: 2 }]);
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
