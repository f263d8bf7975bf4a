import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeCursor, encodeCursor } from "../../../src/domains/logs/cursor.ts";

const seal = { key: new Uint8Array(32).fill(1), organizationId: 7, filters: '["q"]' };
const cursors = fc.record({
  position: fc.record({ tsNs: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), id: fc.bigInt(0n, 2n ** 64n - 1n) }),
  newestId: fc.bigInt(0n, 2n ** 64n - 1n),
  total: fc.integer({ min: 0, max: 10_000 }),
  totalIsExact: fc.boolean(),
});

describe("a cursor", () => {
  test("comes back as it was made, in 60 characters of base64url", () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        const text = encodeCursor(cursor, seal);
        expect(text).toMatch(/^[A-Za-z0-9_-]{60}$/);
        expect(decodeCursor(text, seal)).toEqual(cursor);
      }),
    );
  });

  test("is refused with any one character changed, cut short or made longer", () => {
    fc.assert(
      fc.property(cursors, fc.nat(59), fc.constantFrom("A", "z", "-", "0"), (cursor, at, character) => {
        const text = encodeCursor(cursor, seal);
        const forged = text.slice(0, at) + character + text.slice(at + 1);
        if (forged !== text) expect(decodeCursor(forged, seal)).toBeNull();
        expect(decodeCursor(text.slice(0, at), seal)).toBeNull();
        expect(decodeCursor(text + character, seal)).toBeNull();
      }),
    );
  });

  test("is refused under another key, for another organization and with other filters", () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        const text = encodeCursor(cursor, seal);
        for (const other of [{ key: new Uint8Array(32) }, { organizationId: 8 }, { filters: '["q2"]' }])
          expect(decodeCursor(text, { ...seal, ...other })).toBeNull();
      }),
    );
  });
});
