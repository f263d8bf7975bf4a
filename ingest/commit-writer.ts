import type { Commit } from "./commit.ts";
import { EVENT_KEY_BYTES, EVENT_KEY_WORDS } from "./dedupe/event-key.ts";
import { LogBatch } from "./log-batch.ts";
import { LOG_ID_STEP } from "./log-id.ts";
import { ByteBuffer } from "./native/byte-buffer.ts";
import type { IngestPipelineOptions } from "./pipeline-options.ts";
import { stampBlock } from "./stamp-block.ts";

/** Memory the block encoder keeps between batches. */
const KEEP_BLOCK_BYTES = 16 * 1024 * 1024;

/** Makes commits durable, one at a time, in the order of the ids that their entries get. */
export class CommitWriter {
  readonly #options: IngestPipelineOptions;
  readonly #block = new ByteBuffer(1024 * 1024);
  #firstId: bigint | null = null;

  constructor(options: IngestPipelineOptions) {
    this.#options = options;
  }

  /** The first id of the commit that is being written; null in between. */
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
    const { log, ids, events, now } = this.#options;
    const { rows } = commit.entries;
    const firstId = ids.take(rows);
    this.#firstId = firstId;
    const block = this.#blockOf(commit, firstId);
    const keys = commit.keys.view();
    const appended = log.append({ rows, receivedAtMs: now(), block: [block], keys });
    this.#block.shrink(KEEP_BLOCK_BYTES);
    await appended;
    if (keys.length > 0)
      events.addAll(
        new Uint32Array(keys.buffer, keys.byteOffset, (keys.length / EVENT_KEY_BYTES) * EVENT_KEY_WORDS),
      );
    const lastId = firstId + BigInt((rows - 1) * LOG_ID_STEP);
    this.#options.committed?.committed({ organizations: commit.organizations, block, lastId });
  }

  /** The entries as a block, from `firstId` on; valid until the next one. */
  #blockOf({ entries }: Commit, firstId: bigint): Uint8Array {
    if (!(entries instanceof LogBatch)) {
      stampBlock(entries.block, firstId, LOG_ID_STEP, entries.receivedAtMs);
      return entries.block;
    }
    this.#block.clear();
    // Growing by doubling would copy a large batch twice over.
    this.#block.reserve(entries.blockBytes);
    entries.writeTo(this.#block, firstId, LOG_ID_STEP);
    return this.#block.view();
  }
}
