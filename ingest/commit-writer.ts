import { setImmediate as nextTurn } from "node:timers/promises";
import { type Commit, rowsOf } from "./commit.ts";
import { blockOf, type EntryRecord, keysOf, writeEntries } from "./entry-record.ts";
import { LOG_ID_STEP } from "./log-id.ts";
import { ByteBuffer } from "./native/byte-buffer.ts";
import type { IngestPipelineOptions } from "./pipeline-options.ts";
import { stampBlock } from "./stamp-block.ts";

/** Memory the block encoder keeps between batches. */
const KEEP_BLOCK_BYTES = 16 * 1024 * 1024;

/** Records of a commit, in the order of their ids, and whose entries each one has. */
interface Numbered {
  readonly record: EntryRecord;
  readonly organizations: ReadonlySet<number>;
  readonly firstId: bigint;
}

/** Makes commits durable, one at a time, in the order of the ids that their entries get. */
export class CommitWriter {
  readonly #options: IngestPipelineOptions;
  readonly #record = new ByteBuffer(1024 * 1024);
  #firstId: bigint | null = null;

  constructor(options: IngestPipelineOptions) {
    this.#options = options;
  }

  /** The first id of those that are being written and that nobody has heard of; null in between. */
  get firstId(): bigint | null {
    return this.#firstId;
  }

  /** Resolves when the entries, at least one, would survive, and their keys are remembered. */
  async write(commit: Commit): Promise<void> {
    try {
      await this.#write(commit);
    } finally {
      this.#firstId = null;
    }
  }

  async #write(commit: Commit): Promise<void> {
    const { log, ids, events, now, committed } = this.#options;
    const firstId = ids.take(rowsOf(commit));
    this.#firstId = firstId;
    const receivedAtMs = now();
    const numbered = this.#number(commit, firstId, receivedAtMs);
    await log.append(...numbered.map(({ record }) => ({ ...record, receivedAtMs })));
    for (const { record } of numbered) {
      if (record.keyBytes === 0) continue;
      events.addAll(keysOf(record));
      if (record !== numbered.at(-1)?.record) await nextTurn();
    }
    for (const { record, organizations, firstId: first } of numbered) {
      const lastId = first + BigInt((record.rows - 1) * LOG_ID_STEP);
      committed?.committed({ organizations, block: blockOf(record), lastId });
    }
    this.#record.shrink(KEEP_BLOCK_BYTES);
  }

  /** Gives the entries their ids and their time of receipt. The records are valid until the next commit. */
  #number(commit: Commit, firstId: bigint, receivedAtMs: number): readonly Numbered[] {
    const { batch, slices, keys, organizations } = commit;
    const numbered: Numbered[] = [];
    let nextId = firstId;
    if (batch.rows > 0) {
      numbered.push({
        record: writeEntries(this.#record, batch, keys.view(), nextId),
        organizations,
        firstId: nextId,
      });
      nextId += BigInt(batch.rows * LOG_ID_STEP);
    }
    for (const slice of slices) {
      stampBlock(blockOf(slice), nextId, LOG_ID_STEP, receivedAtMs);
      numbered.push({ record: slice, organizations: new Set([slice.organizationId]), firstId: nextId });
      nextId += BigInt(slice.rows * LOG_ID_STEP);
    }
    return numbered;
  }
}
