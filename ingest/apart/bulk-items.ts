import type { BulkItem } from "../decode/elasticsearch-bulk/elasticsearch-bulk.ts";

/** Items for another thread: objects of their own take it longer to receive than to make. */
export interface PackedItems {
  /** The distinct items, but for their ids. */
  readonly kinds: readonly Omit<BulkItem, "id">[];
  /** Which of them each item is. */
  readonly kindOf: Uint32Array<ArrayBuffer>;
  readonly ids: readonly (string | null)[];
}

export function packItems(items: readonly BulkItem[]): PackedItems {
  const kinds: Omit<BulkItem, "id">[] = [];
  const numbers = new Map<string, number>();
  const kindOf = Uint32Array.from(items, ({ action, index, refusal }) => {
    const name = JSON.stringify([action, index, refusal]);
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, kinds.length);
    return kinds.push({ action, index, refusal }) - 1;
  });
  return { kinds, kindOf, ids: items.some(({ id }) => id !== null) ? items.map(({ id }) => id) : [] };
}

export function unpackItems({ kinds, kindOf, ids }: PackedItems): readonly BulkItem[] {
  const items: BulkItem[] = [];
  for (const [position, number] of kindOf.entries()) {
    const kind = kinds[number];
    if (kind !== undefined) items.push({ ...kind, id: ids[position] ?? null });
  }
  return items;
}
