/**
 * What a connection to Postgres leaves when it dies under whoever holds it. A throw outside of any statement would end
 * the server; here it fails the test during which it happens.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import type { ISql, Sql } from "postgres";
import { askPostgres } from "../../src/storage/ask-postgres.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const ROUNDS = 20;
const OUTAGE = { dependency: "postgres", retryable: true };

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores({ migrations: null });
  await stores.postgres`CREATE TABLE written (who text)`;
});
afterAll(() => stores.close());

/** A pool of one connection: what it leaves behind meets the next one who asks. */
async function withOneConnection(work: (sql: Sql) => Promise<void>): Promise<void> {
  const sql = createPostgres(stores.postgresUrl, { maxConnections: 1 });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 0 });
  }
}

async function endBackend(sql: ISql): Promise<void> {
  const [row] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
  await stores.postgres`SELECT pg_terminate_backend(${row?.pid ?? 0}, 10000)`;
}

const thrownBy = (work: () => Promise<unknown>): Promise<unknown> =>
  askPostgres(work).then(
    () => undefined,
    (error: unknown) => error,
  );

describe("after its connection has died", () => {
  test("a transaction ends with an outage, and the pool goes on", async () => {
    await withOneConnection(async (sql) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const failed = await thrownBy(() =>
          sql.begin(async (tx) => {
            await endBackend(tx);
            await tx`INSERT INTO written VALUES ('dead')`;
          }),
        );
        expect(failed).toMatchObject(OUTAGE);
        const [answer] = await sql`SELECT 1 AS one`;
        expect(answer?.one).toBe(1);
      }
    });
  });

  test("a statement that was cut off takes its transaction along, and the pool goes on", async () => {
    await withOneConnection(async (sql) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const failed = await thrownBy(() =>
          sql.begin((tx) => tx`SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(30)`),
        );
        expect(failed).toMatchObject(OUTAGE);
        const [answer] = await sql`SELECT 1 AS one`;
        expect(answer?.one).toBe(1);
      }
    });
  });

  test("a transaction that goes on says nothing in the transaction of another", async () => {
    await withOneConnection(async (sql) => {
      const died = Promise.withResolvers<void>();
      const isOthersTurn = Promise.withResolvers<void>();
      const hasSpoken = Promise.withResolvers<void>();
      const first = thrownBy(() =>
        sql.begin(async (tx) => {
          await endBackend(tx);
          died.resolve();
          await isOthersTurn.promise;
          const refused = await thrownBy(() => tx`INSERT INTO written VALUES ('dead')`);
          hasSpoken.resolve();
          throw refused;
        }),
      );
      await died.promise;
      await sql.begin(async (tx) => {
        await tx`INSERT INTO written VALUES ('alive')`;
        isOthersTurn.resolve();
        await hasSpoken.promise;
      });
      expect(await first).toMatchObject(OUTAGE);
      const rows = await stores.postgres<{ who: string }[]>`SELECT who FROM written`;
      expect(rows.map(({ who }) => who)).toEqual(["alive"]);
    });
  });

  test("a reserved connection refuses what it is asked, and is not given out twice", async () => {
    await withOneConnection(async (sql) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const reserved = await sql.reserve();
        await endBackend(reserved);
        expect(await thrownBy(async () => await reserved`SELECT 1`)).toMatchObject(OUTAGE);
        const answered = sql`SELECT 1 AS one`;
        reserved.release();
        expect((await answered)[0]?.one).toBe(1);
        reserved.release();
        const [answer] = await sql`SELECT 2 AS two`;
        expect(answer?.two).toBe(2);
      }
    });
  });
});

test("a pool that is closed while it connects throws at nobody but its caller", async () => {
  const server = await holdingProxy("pg_type");
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const url = new URL(stores.postgresUrl);
      url.port = String(server.port);
      const sql = createPostgres(url.href, { maxConnections: 1 });
      const failed = thrownBy(() => sql`SELECT 1`);
      await server.nextHeld();
      await sql.end({ timeout: 0 });
      expect(await failed).toMatchObject(OUTAGE);
    }
  } finally {
    server.close();
  }
});

/** A way to Postgres that keeps to itself what contains `word`, and everything after it. */
async function holdingProxy(word: string) {
  let held = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(Number(new URL(stores.postgresUrl).port), "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    outgoing.pipe(incoming);
    incoming.on("data", (bytes) => {
      if (bytes.includes(word)) held.resolve();
      else outgoing.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    port: address.port,
    nextHeld: async () => {
      await held.promise;
      held = Promise.withResolvers<void>();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
