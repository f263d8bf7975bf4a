import { ALL_TIME, emit, guardPlan } from "../../../../query/index.ts";
import type { FairShare } from "../../../concurrency/fair-share.ts";
import { MemoryShare } from "../../../concurrency/memory-share.ts";
import { mapInSlices } from "../../../concurrency/thread-turns.ts";
import { sseBlock } from "../../../http/sse.ts";
import { ANSWER_MAX_BYTES } from "../../../storage/limits.ts";
import type { QueryCaller, QueryRunner } from "../../../storage/query-runner.ts";
import type { Row } from "../../../storage/stored-rows.ts";
import { ENTRY_COLUMNS, encodeEntry, positionOf } from "../entry-json.ts";
import { entriesAfterPlan } from "./gap-plans.ts";
import {
  GAP_BUDGET,
  GAP_MAX_ENTRIES,
  GAP_PAGE_ENTRIES,
  GAP_PAGE_MAX_BYTES,
  GAP_SCAN_MAX_ENTRIES,
  GAP_STORE_POLL_MS,
} from "./limits.ts";
import { epochMsOf, sourceOf, type TailPosition } from "./position.ts";
import type { DroppedEntries, QueueItem } from "./reader-queue.ts";
import type { TailFilter } from "./tail-filter.ts";
import type { TailGap } from "./tail-stream.ts";

interface StoredGapOptions {
  readonly runner: QueryRunner;
  readonly caller: Omit<QueryCaller, "memory">;
  /** What waits for the reader counts here. */
  readonly memory: FairShare;
  readonly filter: TailFilter;
  /** Where the reader was. */
  readonly position: TailPosition;
  /** For servers that deliver to this reader from here on, the last id that they do not deliver. */
  readonly through: ReadonlyMap<number, bigint>;
  /** Servers that deliver to this reader already. */
  readonly except: ReadonlySet<number>;
  /** Whether the store has everything up to there. */
  readonly isStored: () => boolean;
  /** How long that may take. */
  readonly storeWaitMs: number;
  /** Whether entries that were received since then, in milliseconds since 1970, have moved to the archive. */
  readonly isArchivedSince: (epochMs: number) => Promise<boolean>;
}

/**
 * What a reader missed during a break, from the store: its entries with ids ahead of the position, in order. Servers
 * that deliver are read up to where their deliveries begin, which the store has once `isStored` says so. Others are
 * read as far as the store had them when the reading began: it gets the entries of a server in their order, so that
 * what it has later is beyond what it had then. Of more than `GAP_MAX_ENTRIES` the newest are given and the others
 * counted. The archive is not read: a reader who was away for so long is told that a search finds what it has.
 */
export class StoredGap implements TailGap {
  readonly #options: StoredGapOptions;
  /** Moves ahead of the reader's own while the gap is read. */
  #position: TailPosition;
  readonly #bounds: Map<number, bigint>;
  #after = 0n;
  #isPrepared = false;
  #isRead = false;
  /** Of the page that the reader has. */
  #held: MemoryShare | null = null;

  constructor(options: StoredGapOptions) {
    this.#options = options;
    this.#position = options.position;
    this.#bounds = new Map(options.through);
  }

  get through(): Iterable<bigint> {
    return this.#options.through.values();
  }

  async next(): Promise<readonly QueueItem[] | null> {
    this.#release();
    if (this.#isRead) return null;
    if (this.#isPrepared) return this.#nextPage();
    this.#isPrepared = true;
    await this.#waitForStore();
    // Only now: the reader goes on while it waits its turn.
    this.#position = this.#options.position.copy();
    this.#after = this.#position.lowest;
    const moved = (await this.#options.isArchivedSince(epochMsOf(this.#after))) ? [ARCHIVED] : [];
    const { rows, isLast } = await this.#readPage();
    if (!isLast) return [...moved, ...(await this.#passOldest())];
    // Most often that is all.
    this.#boundBy(rows.map((row) => positionOf(row).id));
    return [...moved, ...this.#itemsOf(rows, isLast)];
  }

  async #nextPage(): Promise<QueueItem[]> {
    const { rows, isLast } = await this.#readPage();
    return this.#itemsOf(rows, isLast);
  }

  #itemsOf(rows: readonly Row[], isLast: boolean): QueueItem[] {
    this.#isRead = isLast;
    const items: QueueItem[] = [];
    for (const row of rows) {
      const { id } = positionOf(row);
      this.#after = id;
      if (this.#isMissed(id)) items.push({ kind: "entry", entry: { id, json: encodeEntry(row) } });
    }
    return items;
  }

  async #waitForStore(): Promise<void> {
    const { isStored, caller, storeWaitMs } = this.#options;
    for (let waitedMs = 0; !isStored(); waitedMs += GAP_STORE_POLL_MS) {
      if (waitedMs >= storeWaitMs || caller.signal.aborted) throw new Error("the store is behind");
      await Bun.sleep(GAP_STORE_POLL_MS);
    }
  }

  /** Passes over what is too much to show, oldest first. */
  async #passOldest(): Promise<QueueItem[]> {
    const { rows } = await this.#read(GAP_SCAN_MAX_ENTRIES, ["id"], ANSWER_MAX_BYTES);
    if (rows.length === GAP_SCAN_MAX_ENTRIES) {
      this.#isRead = true;
      return [TOO_LARGE];
    }
    const ids = rows.map(([id]) => BigInt(String(id)));
    this.#boundBy(ids);
    const missed = ids.filter((id) => this.#isMissed(id));
    if (missed.length <= GAP_MAX_ENTRIES) return [];
    const count = missed.length - GAP_MAX_ENTRIES;
    const dropped: DroppedEntries = { count, isOfBreak: true, lastIds: new Map() };
    for (const id of missed.slice(0, dropped.count)) {
      dropped.lastIds.set(sourceOf(id), id);
      this.#after = id;
    }
    for (const id of dropped.lastIds.values()) this.#position.pass(id);
    return [{ kind: "dropped", dropped }];
  }

  /** The store has these of the servers that do not say how far they are; the ids ascend. */
  #boundBy(ids: readonly bigint[]): void {
    for (const id of ids) if (!this.#options.through.has(sourceOf(id))) this.#bounds.set(sourceOf(id), id);
  }

  #isMissed(id: bigint): boolean {
    const source = sourceOf(id);
    if (this.#options.except.has(source)) return false;
    return this.#position.isAhead(id) && id <= (this.#bounds.get(source) ?? 0n);
  }

  readonly #release = (): void => {
    this.#held?.close();
    this.#options.caller.signal.removeEventListener("abort", this.#release);
  };

  async #readPage(): Promise<{ rows: readonly Row[]; isLast: boolean }> {
    const { rows, isCut } = await this.#read(GAP_PAGE_ENTRIES, ENTRY_COLUMNS, GAP_PAGE_MAX_BYTES);
    return { rows, isLast: !isCut && rows.length < GAP_PAGE_ENTRIES };
  }

  /** What is read counts until the next piece is asked for. */
  async #read(
    maxRows: number,
    columns: readonly string[],
    maxBytes: number,
  ): Promise<{ rows: readonly Row[]; isCut: boolean }> {
    const { runner, caller, filter } = this.#options;
    const { organizationId, userId } = caller;
    const plan = entriesAfterPlan(filter.filter, this.#after, maxRows, columns);
    const scope = { organizationId, timeRange: ALL_TIME, maxRows, budget: GAP_BUDGET };
    this.#release();
    this.#held = new MemoryShare(this.#options.memory, [organizationId, userId]);
    caller.signal.addEventListener("abort", this.#release);
    const compiled = emit(guardPlan(plan, scope));
    const { rows } = await runner.read("tail_gap", compiled, { ...caller, memory: this.#held }, { maxBytes });
    this.#held.reserve(rows.bytes);
    return { isCut: rows.isCut, rows: await mapInSlices(rows, (row) => row) };
  }
}

const TOO_LARGE: QueueItem = {
  kind: "block",
  text: sseBlock({
    event: "error",
    data: JSON.stringify({
      code: "TAIL_GAP_TOO_LARGE",
      message: `More than ${GAP_SCAN_MAX_ENTRIES} entries came during the break: they are not shown here, a search finds them.`,
    }),
  }),
};

const ARCHIVED: QueueItem = {
  kind: "block",
  text: sseBlock({
    event: "error",
    data: JSON.stringify({
      code: "TAIL_GAP_ARCHIVED",
      message:
        "Entries that came during the break have moved to the archive: they are not shown here, a search finds them.",
    }),
  }),
};
