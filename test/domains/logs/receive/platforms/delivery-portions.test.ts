import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DeliveryDecoder, REQUEST_MAX_RECORDS } from "../../../../../ingest/index.ts";
import {
  type DeliveryPortion,
  DeliveryPortions,
} from "../../../../../src/domains/logs/receive/platforms/delivery-portions.ts";
import {
  PORTION_BYTES,
  RECORD_UNPACKED_MAX_BYTES,
  TURN_BYTES,
} from "../../../../../src/domains/logs/receive/platforms/limits.ts";
import { decodeRequest } from "../../../../ingest/decode/decoded-entries.ts";
import { recordsOf } from "./portion-records.ts";

const BOUNDS = { maxBytes: PORTION_BYTES, maxEntries: REQUEST_MAX_RECORDS };

function divide(records: readonly string[], bounds = BOUNDS): readonly DeliveryPortion[] {
  const portions = new DeliveryPortions(bounds);
  for (const [index, record] of records.entries()) addWhole(portions, index, Buffer.from(record));
  return portions.end();
}

/** Adds a record without a break; how often others would have had a turn meanwhile. */
function addWhole(portions: DeliveryPortions, index: number, record: Uint8Array): number {
  const adding = portions.add(index, record, null);
  let turns = 0;
  while (adding.next().done !== true) turns++;
  return turns;
}

const decode = ({ records, body }: DeliveryPortion) => decodeRequest(new DeliveryDecoder(records), body);

/** On one line, indented, and on several lines without indentation. */
const object = fc
  .tuple(
    fc.dictionary(fc.constantFrom("a", "b", "message"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    fc.constantFrom("one line", "indented", "flat"),
  )
  .map(([value, form]) => {
    if (form === "one line") return JSON.stringify(value);
    const indented = JSON.stringify(value, null, "\t");
    return form === "flat" ? indented.replaceAll(/\n\t+/g, "\n") : indented;
  });
const line = fc.constantFrom(
  "a line",
  "  at f (x.js:1)",
  "",
  "{error} of a disk",
  "a list:",
  "{",
  "end }",
  "é,",
);

describe("the portions of a delivery", () => {
  test("hold together what the records hold, wherever they are divided", () =>
    fc.assert(
      fc.property(
        fc.array(fc.array(object, { minLength: 1, maxLength: 6 }), { maxLength: 3 }),
        fc.integer({ min: 1, max: 80 }),
        fc.integer({ min: 1, max: 12 }),
        (contents, maxBytes, maxEntries) => {
          const records = contents.map((pieces) => pieces.join("\n"));
          const parts = divide(records, { maxBytes, maxEntries }).map(decode);
          const whole = divide(records).map(decode);
          expect(parts.flatMap(({ entries }) => entries)).toEqual(whole.flatMap(({ entries }) => entries));
          expect(parts.flatMap(({ rejections }) => rejections)).toEqual([]);
        },
      ),
    ));

  test("hold every byte of the records, whatever they are", () =>
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.oneof(line, object), { minLength: 1, maxLength: 8 }), { maxLength: 3 }),
        fc.integer({ min: 1, max: 60 }),
        (contents, maxBytes) => {
          const records = contents.map((pieces) => pieces.join("\n"));
          const portions = divide(records, { maxBytes, maxEntries: 5 });
          expect(Buffer.concat(portions.map(({ body }) => body)).toString()).toBe(records.join(""));
          for (const portion of portions) expect(recordsOf(portion).at(-1)?.end).toBe(portion.body.length);
        },
      ),
    ));

  test("take apart a record of more lines than a request may have, and say where a part was", () => {
    const count = REQUEST_MAX_RECORDS + 5_000;
    const portions = divide([`${JSON.stringify({ m: "x".repeat(20) })}\n`.repeat(count)]);
    const decoded = portions.map(decode);
    expect(decoded.map(({ refusal }) => refusal)).toEqual(portions.map(() => null));
    expect(decoded.reduce((sum, { entries }) => sum + entries.length, 0)).toBe(count);
    expect(portions.map((portion) => recordsOf(portion)[0]?.place)[1]).toBe("/records/0 behind line 49999");
  });

  test("are closed by the number of records of all kinds as well", () => {
    const lines = "a\n".repeat(40_000);
    const objects = "{}".repeat(40_000);
    const portions = divide([lines, objects, lines, objects]);
    expect(portions.map((portion) => recordsOf(portion).length)).toEqual([2, 2]);
    expect(portions.map((portion) => decode(portion).entries.length)).toEqual([80_000, 80_000]);
  });

  test("divide a record that is too long for one at its lines, but no object that is", () => {
    const long = `${JSON.stringify({ message: "a", pad: "x".repeat(PORTION_BYTES / 2) }, null, 1)}\n`;
    const portions = divide([long.repeat(3)]);
    expect(portions.map((portion) => decode(portion).entries.map(({ message }) => message))).toEqual([
      ["a"],
      ["a"],
      ["a"],
    ]);
  });

  test("let others have a turn while a long record is looked at, and are those of the same bytes at once", () => {
    const line = `${JSON.stringify({ message: "x".repeat(50), nested: { a: [1] } }, null, 1)}\n`;
    const record = Buffer.from(line.repeat(Math.floor(RECORD_UNPACKED_MAX_BYTES / line.length)));
    const portions = new DeliveryPortions(BOUNDS);
    expect(addWhole(portions, 0, record)).toBe(Math.ceil(record.length / TURN_BYTES) - 1);
    const divided = portions.end();
    expect(divided.length).toBeGreaterThan(3);
    expect(Buffer.concat(divided.map(({ body }) => body)).equals(record)).toBe(true);
    for (const { body } of divided) expect(Buffer.from(body.subarray(-3)).toString()).toBe("\n}\n");
  });
});
