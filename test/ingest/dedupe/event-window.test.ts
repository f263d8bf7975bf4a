import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EVENT_KEY_WORDS, writeEventKey } from "../../../ingest/dedupe/event-key.ts";
import { EventWindow } from "../../../ingest/dedupe/event-window.ts";

const DAY_MS = 86_400_000;
const encoder = new TextEncoder();

function keyOf(organizationId: number, eventId: string): Uint32Array<ArrayBuffer> {
  const key = new Uint32Array(EVENT_KEY_WORDS);
  const bytes = encoder.encode(eventId);
  writeEventKey(key, 0, organizationId, bytes, 0, bytes.length);
  return key;
}

describe("event keys", () => {
  test("different events have different keys, the same event always the same", () => {
    const seen = new Map<string, string>();
    const event = fc.tuple(
      fc.integer({ min: 1, max: 5 }),
      fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
    );
    fc.assert(
      fc.property(event, ([organization, id]) => {
        const key = keyOf(organization, id).join();
        const wellFormed = `${organization}:${id.toWellFormed()}`;
        expect(seen.get(key) ?? wellFormed).toBe(wellFormed);
        seen.set(key, wellFormed);
      }),
      { numRuns: 20_000 },
    );
  });

  test("where the bytes lie does not matter", () => {
    const padded = encoder.encode("xxevent-17yy");
    const key = new Uint32Array(EVENT_KEY_WORDS);
    writeEventKey(key, 0, 3, padded, 2, 10);
    expect(key).toEqual(keyOf(3, "event-17"));
  });

  test("the organization is part of the key as it is", () => {
    expect(keyOf(7, "a")[0]).toBe(7);
    expect(keyOf(7, "a")).not.toEqual(keyOf(8, "a"));
  });

  test("ids that differ in one place of a long common text have different keys", () => {
    const keys = new Set(
      Array.from({ length: 50_000 }, (_, i) => keyOf(1, `file-0a1b2c3d4e5f:${i}:line`).slice(1).join()),
    );
    expect(keys.size).toBe(50_000);
  });
});

describe("event window", () => {
  test("an event is remembered for the whole window and forgotten within one and a half", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 60 }), (steps) => {
        let now = 0;
        const window = new EventWindow({ windowMs: 1000, maxKeys: 1000, now: () => now });
        const addedAt: number[] = [];
        for (const step of steps) {
          now += step;
          window.addAll(keyOf(1, `event-${addedAt.length}`));
          addedAt.push(now);
          addedAt.forEach((at, i) => {
            if (now - at <= 1000) expect(window.has(keyOf(1, `event-${i}`), 0)).toBe(true);
            if (now - at > 1500) expect(window.has(keyOf(1, `event-${i}`), 0)).toBe(false);
          });
        }
      }),
      { numRuns: 200 },
    );
  });

  test("a hundred thousand events are told apart from a hundred thousand others", () => {
    const window = new EventWindow({ windowMs: 1000, maxKeys: 200_000, now: () => 0 });
    for (let i = 0; i < 100_000; i++) window.addAll(keyOf(1, `seen-${i}`));
    expect(window.size).toBe(100_000);
    for (let i = 0; i < 100_000; i++) {
      if (!window.has(keyOf(1, `seen-${i}`), 0)) throw new Error(`seen-${i} was forgotten`);
      if (window.has(keyOf(1, `new-${i}`), 0)) throw new Error(`new-${i} was never added`);
    }
  });

  test("what is remembered from a time on is, whatever comes; only what is older than ten minutes makes room", () => {
    const step = fc.record({
      ms: fc.integer({ min: 0, max: 400_000 }),
      count: fc.integer({ min: 1, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        let now = 1_700_000_000_000;
        const window = new EventWindow({ windowMs: DAY_MS, maxKeys: 100, now: () => now });
        const addedAt: number[] = [];
        const add = (count: number): void => {
          for (let i = 0; i < count; i++) window.addAll(keyOf(1, `event-${addedAt.push(now)}`));
        };
        for (const { ms, count } of steps) {
          now += ms;
          const young = addedAt.filter((at) => now - at <= 600_000).length;
          const fits = window.hasRoomFor(count);
          if (fits) add(count);
          else expect(young + count).toBeGreaterThan(100 - 100 / 4);
          expect(window.size).toBeLessThanOrEqual(100);
          expect(window.reachMs).toBe(now - window.sinceMs);
          addedAt.forEach((at, i) => {
            if (at >= window.sinceMs || now - at <= 600_000)
              expect(window.has(keyOf(1, `event-${i + 1}`), 0)).toBe(true);
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  test("what an earlier process remembered is forgotten when it would have been, and no more is kept than fits", () => {
    let now = 10 * DAY_MS;
    const window = new EventWindow({ windowMs: DAY_MS, maxKeys: 40, now: () => now });
    for (let i = 0; i < 60; i++) window.restore(keyOf(1, `event-${i}`), now - DAY_MS / 2 + i);
    expect(window.size).toBeLessThanOrEqual(40);
    expect(window.has(keyOf(1, "event-59"), 0)).toBe(true);
    expect(window.has(keyOf(1, "event-30"), 0)).toBe(true);
    expect(window.has(keyOf(1, "event-0"), 0)).toBe(false);
    expect(window.sinceMs).toBeGreaterThan(now - DAY_MS / 2);
    now += DAY_MS / 2 + 60;
    expect(window.has(keyOf(1, "event-59"), 0)).toBe(false);
  });

  test("room ends at the bound and comes back when the window has passed", () => {
    let now = 0;
    const window = new EventWindow({ windowMs: 1000, maxKeys: 2, now: () => now });
    window.addAll(keyOf(1, "a"));
    window.addAll(keyOf(1, "b"));
    expect(window.hasRoomFor(1)).toBe(false);
    now = 1501;
    expect(window.hasRoomFor(2)).toBe(true);
  });
});
