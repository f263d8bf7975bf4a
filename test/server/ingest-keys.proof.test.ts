/**
 * Two instances on the same stores, killed at random moments, and clients that repeat every batch under its key on either
 * of them until it is acknowledged: each is stored exactly once.
 */
import { expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { type IngestWire, makeSource, NATIVE_WIRE, OTLP_WIRE, sourceWire } from "../harness/ingest-wires.ts";
import { proofRounds } from "../harness/proof.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { storedMessages } from "../harness/stored-messages.ts";
import { openTestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const ROUNDS = proofRounds({ sample: 2, whole: 60 });
const BATCH = 5;
/** A megabyte an entry, so that a batch is decoded on the other thread and stored in two pieces. */
const LARGE_ATTRIBUTES = Object.fromEntries(
  Array.from({ length: 16 }, (_, i) => [`k${i}`, "x".repeat(60_000)]),
);
const LARGE_WIRE: IngestWire = {
  ...NATIVE_WIRE,
  body: (messages) => messages.map((message) => ({ message, attrs: LARGE_ATTRIBUTES })),
};
/** So that it is the others who fill the log. */
const LARGE_EVERY_MS = 200;
/** One client each. */
const WIRES = [NATIVE_WIRE, OTLP_WIRE, sourceWire("keyed"), NATIVE_WIRE, LARGE_WIRE, OTLP_WIRE];

/** Clients that send each batch until it is acknowledged. */
class KeyedClients {
  readonly messages: string[] = [];
  acknowledged = 0;
  /** Answers to requests that had been sent before, without an answer. */
  repeated = 0;
  /** How often each status was answered; 0 stands for no answer. */
  readonly statuses = new Map<number, number>();
  readonly #token: string;
  readonly #urls: readonly [string, string];
  #stopping = false;

  constructor(token: string, urls: readonly [string, string]) {
    this.#token = token;
    this.#urls = urls;
  }

  run(): Promise<unknown> {
    return Promise.all(
      WIRES.map(async (wire, client) => {
        for (let batch = 0; !this.#stopping; batch++) {
          await this.#sendUntilAcknowledged(wire, `${client}-${batch}`);
          if (wire === LARGE_WIRE) await Bun.sleep(LARGE_EVERY_MS);
        }
      }),
    );
  }

  stop(): void {
    this.#stopping = true;
  }

  async #sendUntilAcknowledged(wire: IngestWire, key: string): Promise<void> {
    const messages = Array.from({ length: BATCH }, (_, i) => `${key}-${i}`);
    this.messages.push(...messages);
    for (let attempt = 0; ; attempt++) {
      const url = this.#urls[Math.random() < 0.5 ? 0 : 1];
      const status = await this.#send(`${url}${wire.path}`, key, JSON.stringify(wire.body(messages)));
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      if (status === wire.acknowledges) {
        this.acknowledged += 1;
        if (attempt > 0) this.repeated += 1;
        return;
      }
      await Bun.sleep(Math.random() * 300);
    }
  }

  async #send(url: string, key: string, body: string): Promise<number> {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${this.#token}`,
          "content-type": "application/json",
          "idempotency-key": key,
        },
        body,
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }
}

test(
  `every keyed batch is stored exactly once after ${ROUNDS} rounds of kill -9 on two instances`,
  async () => {
    const stores = await openTestStores();
    using one = temporaryDirectory();
    using two = temporaryDirectory();
    const env = { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl };
    const start = (directory: string, port?: number): Promise<ServerProcess> =>
      startServer({ dataDirectory: directory, env, ...(port !== undefined && { port }) });
    const servers: [ServerProcess, ServerProcess] = [await start(one.path), await start(two.path)];
    const token = await makeToken(servers[0].url);
    await makeSource(servers[0].url, token, "keyed");
    const clients = new KeyedClients(token, [servers[0].url, servers[1].url]);
    const running = clients.run();
    for (let round = 0; round < ROUNDS; round++) {
      const before = clients.acknowledged;
      await eventually("batches are being acknowledged", () => clients.acknowledged > before + 50);
      await Bun.sleep(Math.random() * 500);
      const victim = round % 2 === 0 ? 0 : 1;
      servers[victim].kill("SIGKILL");
      await servers[victim].exited;
      // Long enough, now and then, that leases are over while it is away.
      await Bun.sleep(Math.random() * 8_000);
      servers[victim] = await start(victim === 0 ? one.path : two.path, servers[victim].port);
    }
    clients.stop();
    await running;
    expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0]);
    const stored = await storedMessages(stores.clickhouse);
    await stores.close();
    const wrong = clients.messages.filter((message) => stored.get(message) !== 1);
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(stored.size).toBe(clients.messages.length);
    expect(clients.repeated).toBeGreaterThan(0);
    expect(
      [...clients.statuses.keys()].filter((status) => ![0, 200, 202, 409, 503].includes(status)),
    ).toEqual([]);
  },
  { timeout: 3_600_000 },
);
