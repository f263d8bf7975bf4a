/** Histories of servers that store, seal, die between any two steps, come back late or never: every entry counts once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { Registry } from "prom-client";
import { firstLogIdAt, LOG_ID_STEP } from "../../ingest/index.ts";
import { createLogger } from "../../src/log.ts";
import { endCounter, makeCounter, plainCounter } from "../../src/rules/counters/counter-store.ts";
import { PastCounting } from "../../src/rules/past/past-counting.ts";
import { CounterFinder } from "../../src/rules/seal/counter-finder.ts";
import { sealMetrics } from "../../src/rules/seal/seal-metrics.ts";
import { Sealer } from "../../src/rules/seal/sealer.ts";
import type { SignalTable } from "../../src/rules/seal/signal-store.ts";
import { StoredMarks } from "../../src/rules/seal/stored-marks.ts";
import { giveBackNumber, takeNumber } from "../../src/storage/instance/instance-store.ts";
import type { QueryRunner } from "../../src/storage/query-runner.ts";
import { insertRows, type StoredRow } from "../domains/logs/stored-rows.ts";
import { logRanges } from "../harness/log-ranges.ts";
import { proofRounds } from "../harness/proof.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { queryRunner } from "../query/query-store.ts";

const SERVERS = 3;
const WORDS = ["alpha", "beta", "gamma"];
const HISTORIES = proofRounds({ sample: 8, whole: 300 });
const NEVER = new AbortController().signal;
const STEP_MS = 700_000;

type Step =
  /** A batch becomes durable in the log of a server. */
  | { readonly kind: "commit"; readonly server: number; readonly entries: number }
  /** What is in the log of a server, in its order, comes into the store. */
  | { readonly kind: "flush"; readonly server: number }
  /** A server seals; "counting" and "inserted" say before which of its writes it dies of it. */
  | { readonly kind: "seal"; readonly server: number; readonly dies: "no" | "counting" | "inserted" }
  /** The end of a server, and a start on the same data directory. */
  | { readonly kind: "restart"; readonly server: number; readonly isOrderly: boolean }
  /** So long that others may seal what a server has not. */
  | { readonly kind: "silence" }
  /** The store forgets which inserts it has had, as it does when the power goes. */
  | { readonly kind: "forget" }
  | { readonly kind: "count"; readonly word: number }
  | { readonly kind: "uncount" }
  | { readonly kind: "past" };

const server = fc.nat(SERVERS - 1);
const STEPS = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant<"commit">("commit"),
        server,
        entries: fc.integer({ min: 1, max: 9 }),
      }),
    },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant<"flush">("flush"), server }) },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant<"seal">("seal"),
        server,
        dies: fc.constantFrom<"no" | "counting" | "inserted">("no", "no", "counting", "inserted"),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant<"restart">("restart"), server, isOrderly: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: "silence" }) },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: "forget" }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant<"count">("count"), word: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: "uncount" }) },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: "past" }) },
  ),
  { minLength: 5, maxLength: 40 },
);

let stores: TestStores;
let organizationId: number;
beforeAll(async () => {
  stores = await openTestStores();
  const [made] = await stores.postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('counted', now()) RETURNING id`;
  organizationId = made?.id ?? 0;
});
afterAll(() => stores.close());

const A = { server: 0 } as const;
const commit = { kind: "commit", ...A, entries: 9 } as const;
const flush = { kind: "flush", ...A } as const;
const count = { kind: "count", word: 0 } as const;
const seal = (dies: "no" | "counting" | "inserted"): Step => ({ kind: "seal", ...A, dies });

/** Histories that chance seldom makes. */
const EXAMPLES: Step[][] = [
  // A counter that is made while a seal is under way, which does not count it.
  [count, commit, flush, seal("counting"), { kind: "count", word: 1 }],
  // A seal of which nobody knows whether it was done, after the store has forgotten tokens.
  [count, commit, flush, seal("inserted"), { kind: "forget" }, seal("no"), commit, flush],
  // Entries that come into the store only after the next start of their server.
  [count, commit, { kind: "restart", ...A, isOrderly: true }, seal("no"), seal("no"), flush],
  [count, commit, { kind: "restart", ...A, isOrderly: false }, seal("no"), seal("no"), flush, commit, flush],
  // A server that others have sealed for, and that comes back.
  [
    count,
    commit,
    flush,
    commit,
    { kind: "silence" },
    { kind: "seal", server: 1, dies: "no" },
    flush,
    seal("no"),
  ],
];

/** One server: its log, which outlives it, and what a start of it knows. */
class Server {
  readonly place: string;
  /** Durable and not in the store; of former starts first. */
  log: StoredRow[] = [];
  /** Of the log, what former starts left. */
  leftOver = 0;
  #instance = 0;
  #holder = "";
  #nextId = 0n;
  #marks = new StoredMarks();
  #sealer: Sealer | null = null;

  constructor(place: string) {
    this.place = place;
  }

  async start(world: World, isOrderly: boolean): Promise<void> {
    const { postgres } = stores;
    if (isOrderly && this.#sealer !== null)
      await giveBackNumber(postgres, this.#instance, this.#holder, world.nowMs - 1);
    this.#holder = crypto.randomUUID();
    const instance = await takeNumber(postgres, { id: this.#holder, place: this.place }, world.nowMs);
    if (instance === null) throw new Error("no number is free");
    this.#instance = instance;
    this.#nextId = firstLogIdAt(world.nowMs, instance);
    this.#marks = new StoredMarks();
    this.leftOver = this.log.length;
    this.#sealer = new Sealer({
      sql: postgres,
      signals: world.signals,
      finders: [
        new CounterFinder({
          sql: postgres,
          endpoint: world.signals.endpoint,
          few: 0,
          runner: world.runner,
          onChanged: () => undefined,
          log: createLogger("silent"),
        }),
      ],
      sealing: { holder: this.#holder, place: this.place },
      marks: this.#marks,
      isRecovered: () => this.leftOver === 0,
      isDrained: () => false,
      metrics: sealMetrics(new Registry()),
      now: () => world.nowMs,
      log: createLogger("silent"),
    });
  }

  commit(entries: number, nowMs: number): void {
    for (let i = 0; i < entries; i++) {
      // Senders choose the time: minutes of some days, before and behind 1970 too.
      const ts = BigInt((i * 7919) % 3 === 0 ? -90_000 * i : nowMs - 61_000 * i * i) * 1_000_000n;
      const message = `${WORDS[i % 3] ?? ""} ${i}`;
      this.log.push({ organizationId, ts, id: this.#nextId, message });
      this.#nextId += BigInt(LOG_ID_STEP);
    }
  }

  async flush(): Promise<void> {
    const rows = this.log;
    if (rows.length === 0) return;
    await insertRows(stores.clickhouse, rows);
    this.log = [];
    this.leftOver = 0;
    for (const { id } of rows) this.#marks.stored(id);
  }

  /** Rejects with what it dies of. */
  seal(): Promise<boolean> {
    if (this.#sealer === null) throw new Error("the server is not started");
    return this.#sealer.workOnce(NEVER);
  }
}

class World {
  nowMs = Date.UTC(2026, 2, 1);
  dies: "no" | "counting" | "inserted" = "no";
  readonly servers = Array.from({ length: SERVERS }, (_, i) => new Server(`place-${i}`));
  readonly counters: { readonly id: number; readonly word: string }[] = [];
  readonly signals: SignalTable;
  readonly runner: Pick<QueryRunner, "run">;
  readonly #past: PastCounting;

  constructor() {
    this.signals = {
      endpoint: stores.clickhouseEndpoint,
      settle: async () => {
        if (this.dies === "inserted") throw new Error("died behind the insert");
      },
    };
    const runner = queryRunner(stores);
    this.runner = {
      run: (...args) => {
        if (this.dies === "counting") throw new Error("died before the insert");
        return runner.run(...args);
      },
    };
    this.#past = new PastCounting({
      sql: stores.postgres,
      signals: { endpoint: stores.clickhouseEndpoint, settle: async () => undefined },
      ranges: logRanges(stores),
      now: () => this.nowMs,
      log: createLogger("silent"),
    });
  }

  async begin(): Promise<void> {
    await stores.postgres`TRUNCATE server_instances, ingest_streams, log_counters RESTART IDENTITY CASCADE`;
    for (const table of ["logs", "signals"])
      await stores.clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
    for (const server of this.servers) await server.start(this, false);
  }

  async take(step: Step): Promise<void> {
    this.nowMs += STEP_MS;
    switch (step.kind) {
      case "commit":
        return this.#server(step.server).commit(step.entries, this.nowMs);
      case "flush":
        return this.#server(step.server).flush();
      case "seal":
        return this.#seal(this.#server(step.server), step.dies);
      case "restart":
        return this.#server(step.server).start(this, step.isOrderly);
      case "silence":
        await stores.postgres`UPDATE ingest_streams SET lease_until = now() - interval '1 second'`;
        return;
      case "forget":
        for (const window of [0, 10_000])
          await stores.clickhouse.command({
            query: `ALTER TABLE signals MODIFY SETTING non_replicated_deduplication_window = ${window}`,
          });
        return;
      case "count":
        return this.#count(WORDS[step.word] ?? "");
      case "uncount":
        return this.#uncount();
      case "past":
        await this.#past.workOnce(NEVER);
    }
  }

  /** Everything is flushed, sealed and counted; afterwards nothing is left to be. */
  async settle(): Promise<void> {
    for (const server of this.servers) await server.flush();
    await this.take({ kind: "silence" });
    for (const server of this.servers)
      for (let rounds = 0; await server.seal(); rounds++)
        if (rounds > 1000) throw new Error("sealing does not end");
    await this.#past.workOnce(NEVER);
  }

  #server(index: number): Server {
    const found = this.servers[index];
    if (found === undefined) throw new RangeError(`there is no server ${index}`);
    return found;
  }

  /** A server that dies is started again. */
  async #seal(server: Server, dies: World["dies"]): Promise<void> {
    this.dies = dies;
    try {
      await server.seal();
    } catch (error) {
      if (dies === "no") throw error;
      await server.start(this, false);
    } finally {
      this.dies = "no";
    }
  }

  async #count(word: string): Promise<void> {
    const counter = plainCounter({ query: word, service: null, level: null }, 60);
    const id = await stores.postgres.begin((tx) => makeCounter(tx, organizationId, counter, this.nowMs));
    this.counters.push({ id, word });
  }

  async #uncount(): Promise<void> {
    const last = this.counters.pop();
    if (last === undefined) return;
    await stores.postgres.begin((tx) => endCounter(tx, organizationId, last.id));
  }
}

async function rowsOf(query: string, parameters: Record<string, unknown>): Promise<unknown[]> {
  const answer = await stores.clickhouse.query({
    query,
    query_params: parameters,
    format: "JSONCompactEachRow",
  });
  return answer.json();
}

/** Minutes and what is counted of them, of a counter and of the entries. */
async function countsOf(id: number, word: string): Promise<{ counted: unknown[]; stored: unknown[] }> {
  return {
    counted: await rowsOf(
      `SELECT toString(toUnixTimestamp64Nano(bucket)), toUInt64(sum(n)) FROM signals
       WHERE kind = 'count' AND key = {id: UInt64} GROUP BY bucket ORDER BY bucket`,
      { id },
    ),
    stored: await rowsOf(
      `WITH toUnixTimestamp64Milli(toDateTime64(ts, 3)) AS ms
       SELECT toString(toInt64(floor(ms / 60000)) * 60000000000) AS minute, count() FROM logs
       WHERE message LIKE {like: String} GROUP BY minute ORDER BY toInt64(minute)`,
      { like: `${word} %` },
    ),
  };
}

test("every entry is counted once, whoever dies between which steps", async () => {
  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      const world = new World();
      await world.begin();
      for (const step of steps) await world.take(step);
      await world.settle();
      for (const { id, word } of world.counters) {
        const { counted, stored } = await countsOf(id, word);
        expect(counted).toEqual(stored);
      }
    }),
    { numRuns: HISTORIES, examples: EXAMPLES.map((steps) => [steps]), endOnFailure: true, seed: 11 },
  );
});
