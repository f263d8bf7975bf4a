import { expect, test } from "bun:test";
import fc from "fast-check";
import { type RegionCheck, RoundBook } from "../../../../src/domains/monitors/scheduling/rounds.ts";

const REGIONS = ["local", "weur", "apac"];

function checkOf(region: string): RegionCheck {
  return {
    region,
    startedAtMs: 1,
    lateMs: 0,
    outcome: {
      status: "up",
      error: null,
      durationMs: 1,
      phases: { dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0 },
      statusCode: null,
      certificateNotAfter: null,
      failedStep: null,
    },
  };
}

test("every round is closed once, in the order of its monitor's slots, with each region's first report", () => {
  const steps = fc.array(
    fc.record({ slot: fc.nat(6), region: fc.constantFrom(...REGIONS), closes: fc.boolean() }),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const book = new RoundBook();
      for (let slot = 0; slot <= 6; slot++)
        book.begin({ monitorId: 1, shard: 1, slotMs: slot, nextMs: slot + 1 }, REGIONS, slot + 100);
      const closed = all.flatMap(({ slot, region, closes }) =>
        closes ? book.close(slot + 100) : book.report(1, slot, checkOf(region)),
      );
      closed.push(...book.close(1_000));
      expect(closed.map(({ slotMs }) => slotMs)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      for (const { checks } of closed)
        expect(new Set(checks.map(({ region }) => region)).size).toBe(checks.length);
      expect(book.size).toBe(0);
    }),
  );
});

test("a round is closed as soon as all of its regions have reported, and not before", () => {
  const book = new RoundBook();
  book.begin({ monitorId: 1, shard: 1, slotMs: 5, nextMs: 6 }, REGIONS, 100);
  expect(book.report(1, 5, checkOf("local"))).toEqual([]);
  expect(book.report(1, 5, checkOf("weur"))).toEqual([]);
  expect(book.report(1, 5, checkOf("sam"))).toEqual([]);
  expect(book.report(1, 5, checkOf("apac"))[0]?.checks.length).toBe(3);
  expect(book.report(1, 5, checkOf("apac"))).toEqual([]);
});

test("what is open of a shard that somebody else runs is forgotten", () => {
  const book = new RoundBook();
  book.begin({ monitorId: 1, shard: 1, slotMs: 5, nextMs: 6 }, REGIONS, 100);
  book.begin({ monitorId: 2, shard: 2, slotMs: 5, nextMs: 6 }, REGIONS, 100);
  book.forget(1);
  expect(book.close(1_000).map(({ monitorId }) => monitorId)).toEqual([2]);
});
