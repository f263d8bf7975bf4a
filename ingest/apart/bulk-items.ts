import type { BulkItem } from "../decode/elasticsearch-bulk/elasticsearch-bulk.ts";

/** What actions may have in common. */
export type BulkItemKind = Omit<BulkItem, "id">;

/** The items of a bulk request, in their order: so many objects of their own take long to make, and to hand over. */
export interface PackedItems {
  /** The distinct items, but for their ids. */
  readonly kinds: readonly BulkItemKind[];
  /** Which of them each item is. */
  readonly kindOf: Uint32Array<ArrayBuffer>;
  /** The id that each item came with; of none when no item did. */
  readonly ids: readonly (string | null)[];
  /** Bytes of those ids as JSON, and how many they are. */
  readonly idBytes: number;
  readonly idCount: number;
}

export function packItems(items: readonly BulkItem[]): PackedItems {
  const kinds: BulkItemKind[] = [];
  const numbers = new Map<string, number>();
  const kindOf = new Uint32Array(items.length);
  let idBytes = 0;
  let idCount = 0;
  let last: BulkItemKind | undefined;
  let number = 0;
  for (const [position, { action, index, refusal, id }] of items.entries()) {
    if (last?.action !== action || last.index !== index || last.refusal !== refusal) {
      last = { action, index, refusal };
      const name = JSON.stringify(last);
      number = numbers.get(name) ?? kinds.push(last) - 1;
      numbers.set(name, number);
    }
    kindOf[position] = number;
    if (id === null) continue;
    idBytes += jsonBytes(id);
    idCount++;
  }
  return { kinds, kindOf, ids: idCount > 0 ? items.map(({ id }) => id) : [], idBytes, idCount };
}

/** Of a text as JSON, escapes and UTF-8 included. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
