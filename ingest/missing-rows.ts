import { CommittedBlock } from "./committed-block.ts";
import { copyRows } from "./copy-rows.ts";
import { INSTANCE_COUNT } from "./log-id.ts";
import type { EntryIds, EntrySpan, Extent, LogStore } from "./log-store.ts";

/** Blocks for an insert, and how many rows they have. */
export interface Rows {
  readonly blocks: readonly Uint8Array[];
  readonly rows: number;
}

/** Those rows of the blocks that neither the store has nor somebody else, in their order. */
export async function missingRows(
  store: LogStore,
  blocks: readonly Uint8Array[],
  givenAway: EntryIds,
  signal: AbortSignal,
): Promise<Rows> {
  const entries = blocks.map((block) => new CommittedBlock(block));
  const stored = [givenAway, ...(await findAll(store, spansOf(entries), signal))];
  const missing: Uint8Array[] = [];
  let rows = 0;
  for (const [index, block] of entries.entries()) {
    for (const { from, to } of runsOf(block, stored)) {
      const isWhole = to - from === block.rows;
      missing.push(isWhole ? (blocks[index] ?? new Uint8Array(0)) : copyRows(block, from, to));
      rows += to - from;
    }
  }
  return { blocks: missing, rows };
}

/** One span for each instance that made entries of the blocks: one alone those of a block. */
function spansOf(blocks: readonly CommittedBlock[]): EntrySpan[] {
  const spans = new Map<bigint, EntrySpan>();
  for (const block of blocks) {
    const instance = block.id(0) % BigInt(INSTANCE_COUNT);
    const span = spans.get(instance);
    spans.set(instance, span === undefined ? spanOf(block) : joined(span, spanOf(block)));
  }
  return [...spans.values()];
}

/** Ids grow within a block, and from one block of an instance to the next. */
function spanOf(block: CommittedBlock): EntrySpan {
  const organizations = { min: Number.MAX_SAFE_INTEGER, max: 0 };
  const receivedMs = { min: Number.MAX_SAFE_INTEGER, max: 0 };
  for (let row = 0; row < block.rows; row++) {
    include(organizations, block.organizationId(row));
    include(receivedMs, Number(block.receivedAt(row)));
  }
  return { firstId: block.id(0), lastId: block.id(block.rows - 1), organizations, receivedMs };
}

function include(extent: { min: number; max: number }, value: number): void {
  if (value < extent.min) extent.min = value;
  if (value > extent.max) extent.max = value;
}

function joined(before: EntrySpan, after: EntrySpan): EntrySpan {
  return {
    firstId: before.firstId,
    lastId: after.lastId,
    organizations: union(before.organizations, after.organizations),
    receivedMs: union(before.receivedMs, after.receivedMs),
  };
}

function union(left: Extent, right: Extent): Extent {
  return { min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) };
}

async function findAll(
  store: LogStore,
  spans: readonly EntrySpan[],
  signal: AbortSignal,
): Promise<readonly EntryIds[]> {
  const found: EntryIds[] = [];
  for (const span of spans) found.push(await store.find(span, signal));
  return found;
}

/** The runs of neighbouring rows that the store does not have. */
function* runsOf(
  block: CommittedBlock,
  stored: readonly EntryIds[],
): Generator<{ readonly from: number; readonly to: number }> {
  let from = 0;
  for (let row = 0; row < block.rows; row++) {
    const organization = block.organizationId(row);
    const id = block.id(row);
    if (!stored.some((ids) => ids.get(organization)?.has(id) === true)) continue;
    if (from < row) yield { from, to: row };
    from = row + 1;
  }
  if (from < block.rows) yield { from, to: block.rows };
}
