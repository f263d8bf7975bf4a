import { describe, expect, test } from "bun:test";
import type { Letter } from "../../../../src/domains/logs/tail/fan-out-messages.ts";
import { readAnnouncement, readLetter } from "../../../../src/domains/logs/tail/fan-out-messages.ts";
import { RemoteStreams } from "../../../../src/domains/logs/tail/remote-streams.ts";

const letter = (from: string, number: number, epoch = 1): Letter => ({
  type: "stored",
  from,
  source: 5,
  epoch,
  number,
  stream: 1,
  mark: "7",
});

describe("letters of other servers", () => {
  test("are counted for each of them: a missing one, a repeated one and a late one show", () => {
    let holes = 0;
    const streams = new RemoteStreams({
      onHole: () => {
        holes++;
      },
    });
    for (const [from, number] of [
      ["a", 1],
      ["b", 1],
      ["a", 2],
      ["b", 2],
    ] as const)
      streams.open(letter(from, number));
    expect(holes).toBe(0);
    streams.open(letter("a", 4));
    expect(holes).toBe(1);
    streams.open(letter("b", 2));
    expect(holes).toBe(2);
    streams.open(letter("c", 2));
    expect(holes).toBe(3);
  });

  test("of an epoch before are nothing to this one", () => {
    let holes = 0;
    const streams = new RemoteStreams({
      onHole: () => {
        holes++;
      },
    });
    streams.open(letter("a", 1));
    streams.beginAnew([5]);
    streams.open(letter("a", 2, 1));
    expect(holes).toBe(0);
    streams.open(letter("a", 1, 2));
    expect(holes).toBe(0);
    streams.open(letter("a", 3, 2));
    expect(holes).toBe(1);
  });

  test("that another version may have sent are no letters", () => {
    expect(readLetter(JSON.stringify(letter("a", 1)))).toEqual(letter("a", 1));
    for (const text of [
      "",
      "{",
      "null",
      "[]",
      '{"type":"stored"}',
      JSON.stringify({ ...letter("a", 1), mark: "x" }),
    ]) {
      expect(readLetter(text)).toBeNull();
      expect(readAnnouncement(text)).toBeNull();
    }
  });
});
