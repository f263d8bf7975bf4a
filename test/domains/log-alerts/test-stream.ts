import { Registry } from "prom-client";
import { firstLogIdAt, LOG_ID_STEP } from "../../../ingest/index.ts";
import { createLogger } from "../../../src/log.ts";
import { CounterFinder } from "../../../src/rules/seal/counter-finder.ts";
import { sealMetrics } from "../../../src/rules/seal/seal-metrics.ts";
import { Sealer } from "../../../src/rules/seal/sealer.ts";
import { StoredMarks } from "../../../src/rules/seal/stored-marks.ts";
import { giveBackNumber, takeNumber } from "../../../src/storage/instance/instance-store.ts";
import type { TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";
import { insertRows, type StoredRow } from "../logs/stored-rows.ts";

export interface Entry extends Partial<Omit<StoredRow, "id" | "ts">> {
  /** When it says it was, in milliseconds since 1970. */
  readonly atMs: number;
}

const NEVER = new AbortController().signal;

/** What a server that seals dies of: before what it found is stored, or before it says that it is. */
export type Death = "counting" | "inserted";

/** One server as far as it stores entries and seals them; what it starts anew is another stream. */
export class TestStream {
  readonly #stores: TestStores;
  readonly #now: () => number;
  readonly #place: string;
  #instance = 0;
  #holder = "";
  #nextId = 0n;
  #marks = new StoredMarks();
  #sealer: Sealer | null = null;
  #dies: Death | null = null;

  constructor(stores: TestStores, now: () => number, place: string) {
    this.#stores = stores;
    this.#now = now;
    this.#place = place;
  }

  /** Begins a stream; what an earlier one of it has not sealed is sealed by this one. */
  async start(): Promise<this> {
    const { postgres: sql, clickhouseEndpoint: endpoint } = this.#stores;
    const log = createLogger("silent");
    const runner = queryRunner(this.#stores);
    if (this.#sealer !== null) await giveBackNumber(sql, this.#instance, this.#holder, this.#now());
    this.#holder = crypto.randomUUID();
    const instance = await takeNumber(sql, { id: this.#holder, place: this.#place }, this.#now());
    if (instance === null) throw new Error("no number is free");
    // By the clock of the test, which the database does not know.
    await sql`UPDATE ingest_streams SET created_at = ${new Date(this.#now())} WHERE holder = ${this.#holder}`;
    this.#instance = instance;
    this.#nextId = 0n;
    this.#marks = new StoredMarks();
    this.#sealer = new Sealer({
      sql,
      signals: {
        endpoint,
        settle: async () => {
          if (this.#dies === "inserted") throw new Error("died behind the insert");
        },
      },
      ...{ marks: this.#marks, now: this.#now, log, sealing: { holder: this.#holder, place: this.#place } },
      finders: [
        new CounterFinder({
          ...{ sql, endpoint, few: 0, onChanged: () => undefined, log },
          runner: {
            run: (...args) => {
              if (this.#dies === "counting") throw new Error("died before the insert");
              return runner.run(...args);
            },
          },
        }),
      ],
      isRecovered: () => true,
      isDrained: () => true,
      idleShare: async () => 1,
      metrics: sealMetrics(new Registry()),
    });
    return this;
  }

  /** The ids of the entries, in their order. */
  async store(organizationId: number, entries: readonly Entry[]): Promise<bigint[]> {
    const floor = firstLogIdAt(this.#now(), this.#instance);
    if (this.#nextId < floor) this.#nextId = floor;
    const rows = entries.map(({ atMs, ...entry }): StoredRow => {
      const id = this.#nextId;
      this.#nextId += BigInt(LOG_ID_STEP);
      return { message: "x", ...entry, organizationId, id, ts: BigInt(atMs) * 1_000_000n };
    });
    if (rows.length > 0) await insertRows(this.#stores.clickhouse, rows);
    for (const { id } of rows) this.#marks.stored(id);
    return rows.map(({ id }) => id);
  }

  /** Seals all that there is. */
  async seal(): Promise<void> {
    if (this.#sealer === null) throw new Error("the stream is not started");
    while (await this.#sealer.workOnce(NEVER));
  }

  /** The server dies of sealing, where there is anything to seal, and starts again. */
  async die(of: Death): Promise<void> {
    this.#dies = of;
    try {
      await this.seal();
    } catch {
      // As it would be found by its next start.
    } finally {
      this.#dies = null;
    }
    await this.start();
  }
}
