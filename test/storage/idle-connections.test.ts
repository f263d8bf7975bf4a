/** Connections that end because nobody used them, in the middle of others that ask: nobody waits for an answer that never comes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import { findFreePort } from "../../src/storage/embedded/free-port.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

/** So short that connections end all the time. */
const IDLE_SECONDS = 0.002;
const WORKERS = 6;
const ROUNDS = 100;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores({ migrations: null });
});
afterAll(() => stores.close());

test("statements, transactions and reserved connections are all answered while idle connections close", async () => {
  const sql = createPostgres(stores.postgresUrl, { maxConnections: 3, idleSeconds: IDLE_SECONDS });
  const asks = [
    async () => sql`SELECT 1`,
    async () => sql.begin((tx) => tx`SELECT 1`),
    async () => {
      const reserved = await sql.reserve();
      try {
        await reserved`SELECT 1`;
      } finally {
        reserved.release();
      }
    },
  ];
  let answered = 0;
  const work = async (worker: number): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await asks[(worker + round) % asks.length]?.();
      answered += 1;
      // Around the moment in which the connection ends.
      await Bun.sleep((round * 7 + worker) % 5);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  expect(answered).toBe(WORKERS * ROUNDS);
  await sql.end({ timeout: 1 });
});

test("a connection that nobody uses ends, and its process with it", async () => {
  const sql = createPostgres(stores.postgresUrl, { idleSeconds: 0.05 });
  const [backend] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
  await eventually("the process ends", async () => {
    const left = await stores.postgres`SELECT 1 FROM pg_stat_activity WHERE pid = ${backend?.pid ?? 0}`;
    return left.length === 0;
  });
  expect((await sql`SELECT 1 AS one`)[0]?.one).toBe(1);
  await sql.end({ timeout: 1 });
});

test("who could not be given a connection during an outage takes none from the pool after it", async () => {
  const url = new URL(stores.postgresUrl);
  const target = Number(url.port);
  url.port = String(await findFreePort());
  const sql = createPostgres(url.href, { maxConnections: 1 });
  for (let round = 0; round < 3; round += 1) await expect(sql.reserve()).rejects.toThrow("ECONNREFUSED");

  const sockets: Socket[] = [];
  const way = createServer((incoming) => {
    const outgoing = connect(target, "127.0.0.1");
    sockets.push(incoming, outgoing);
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => way.listen(Number(url.port), "127.0.0.1", resolve));
  for (let round = 0; round < 3; round += 1) {
    const reserved = await sql.reserve();
    expect((await reserved`SELECT 1 AS one`)[0]?.one).toBe(1);
    reserved.release();
  }
  await sql.end({ timeout: 1 });
  for (const socket of sockets) socket.destroy();
  way.close();
});
