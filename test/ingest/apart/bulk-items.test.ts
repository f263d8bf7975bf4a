import { expect, test } from "bun:test";
import fc from "fast-check";
import { packItems } from "../../../ingest/apart/bulk-items.ts";

test("packed items are the items, and the bytes of their ids are counted", () => {
  const item = fc.record({
    action: fc.constantFrom("create", "index", "update", "delete"),
    index: fc.constantFrom("a", "b"),
    id: fc.option(fc.string({ unit: "grapheme", maxLength: 4 })),
    refusal: fc.option(fc.constantFrom("x", "y")),
  });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 40 }), (items) => {
      const { kinds, kindOf, ids, idBytes, idCount } = structuredClone(packItems(items));
      const unpacked = [...kindOf].map((kind, position) => ({ ...kinds[kind], id: ids[position] ?? null }));
      expect(unpacked).toEqual(items);
      expect(new Set(kinds.map((kind) => JSON.stringify(kind))).size).toBe(kinds.length);
      const given = items.flatMap(({ id }) => (id === null ? [] : [JSON.stringify(id)]));
      expect([idCount, idBytes]).toEqual([given.length, Buffer.byteLength(given.join(""))]);
    }),
  );
});
