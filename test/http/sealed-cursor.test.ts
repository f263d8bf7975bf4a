import { expect, test } from "bun:test";
import fc from "fast-check";
import { type CursorSeal, openCursor, sealCursor } from "../../src/http/sealed-cursor.ts";

const BYTES = 17;
const payloads = fc.uint8Array({ minLength: BYTES, maxLength: BYTES });
const seals: fc.Arbitrary<CursorSeal> = fc.record({
  key: fc.constantFrom(new Uint8Array(32), new Uint8Array(32).fill(1)),
  // As a number before it, or after it, could be read as part of the other one.
  purpose: fc.constantFrom("audit", "audit-verify", "1:audit", "audit\0"),
  organizationId: fc.constantFrom(1, 2, 11),
});

test("a cursor opens for its organisation, its purpose and under its key, and for nothing else", () => {
  fc.assert(
    fc.property(payloads, seals, seals, (payload, seal, other) => {
      const cursor = sealCursor(payload, seal);
      const isSame =
        Buffer.compare(seal.key, other.key) === 0 &&
        seal.purpose === other.purpose &&
        seal.organizationId === other.organizationId;
      const opened = openCursor(cursor, BYTES, other);
      expect(opened === null ? null : new Uint8Array(opened)).toEqual(isSame ? payload : null);
    }),
  );
});

test("a cursor that was changed, cut or written otherwise opens nothing", () => {
  const seal = { key: new Uint8Array(32), purpose: "audit", organizationId: 1 };
  fc.assert(
    fc.property(payloads, fc.nat(), fc.integer({ min: 1, max: 255 }), (payload, place, change) => {
      const cursor = sealCursor(payload, seal);
      const bytes = Buffer.from(cursor, "base64url");
      bytes.writeUInt8(bytes.readUInt8(place % bytes.length) ^ change, place % bytes.length);
      const damaged = [bytes.toString("base64url"), cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, ""];
      for (const text of damaged) expect(openCursor(text, BYTES, seal)).toBeNull();
      expect(openCursor(cursor, BYTES + 1, seal)).toBeNull();
    }),
  );
});
