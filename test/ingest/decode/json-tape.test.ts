import { describe, expect, test } from "bun:test";
import { JSON_ARRAY, JSON_NUMBER, JSON_OBJECT, JsonTape } from "../../../ingest/decode/json-tape.ts";

const DEPTH = 8;

function read(text: string): JsonTape {
  const tape = new JsonTape(DEPTH);
  expect(tape.read(new TextEncoder().encode(text))).toBeNull();
  return tape;
}

describe("the tape of a large text", () => {
  const record = { message: "a message of some words", attributes: { status: 502, took: 1.5 } };

  test("has room for its tokens from the start, so that no smaller one is left behind", () => {
    const text = JSON.stringify(Array.from({ length: 60_000 }, () => record));
    const tape = read(text);
    // One that had grown would have a power of two.
    expect(tape.kinds.length).toBe(Math.ceil(text.length / 8));
    expect([tape.kinds[0], tape.kinds[1], tape.ends[0]]).toEqual([JSON_ARRAY, JSON_OBJECT, 60_000 * 9 + 1]);
    expect([tape.starts.length, tape.ends.length]).toEqual([tape.kinds.length, tape.kinds.length]);
  });

  test("grows where there are more tokens than texts have as a rule", () => {
    const numbers = 2_000_000;
    const tape = read(`[${"7,".repeat(numbers - 1)}7]`);
    expect([tape.ends[0], tape.kinds[numbers]]).toEqual([numbers + 1, JSON_NUMBER]);
    expect(tape.starts[numbers]).toBe(2 * numbers - 1);
  });

  test("is given back when the next text is a small one", () => {
    const tape = read(JSON.stringify(Array.from({ length: 60_000 }, () => record)));
    const large = tape.kinds.length;
    expect(tape.read(new TextEncoder().encode("[1]"))).toBeNull();
    expect(tape.kinds.length).toBeLessThan(large);
    expect([tape.ends[0], tape.kinds[1]]).toEqual([2, JSON_NUMBER]);
  });
});
