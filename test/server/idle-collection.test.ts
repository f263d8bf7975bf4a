import { expect, test } from "bun:test";
import { IdleCollection, LOOK_EVERY_MS, type ProcessUse } from "../../src/server/idle-collection.ts";

const MIB = 1024 * 1024;

/** A process of which each look finds what the test says, and how often it was collected. */
function process() {
  let use: ProcessUse = { atMs: 0, cpuMs: 0, residentBytes: 100 * MIB, bodyBytes: 0, receivedBytes: 0 };
  let collections = 0;
  let rests = 0;
  const collection = new IdleCollection({
    read: () => use,
    collect: () => {
      collections += 1;
      use = { ...use, cpuMs: use.cpuMs + 1_000, residentBytes: 80 * MIB };
    },
    shrink: () => {
      rests += 1;
    },
  });
  return {
    /** Looks again after a while of `share` of a core in which memory came to `mib`, `bodiesMib` of it of bodies, and so much was received. */
    look: (share: number, mib: number, bodiesMib = 0, receivedMib = 0) => {
      use = {
        atMs: use.atMs + LOOK_EVERY_MS,
        cpuMs: use.cpuMs + share * LOOK_EVERY_MS,
        residentBytes: mib * MIB,
        bodyBytes: bodiesMib * MIB,
        receivedBytes: use.receivedBytes + receivedMib * MIB,
      };
      collection.look();
      return collections;
    },
    /** How often it has given back what can be made again. */
    rests: () => rests,
  };
}

test("what a load leaves behind is collected once the load is over, and not while it lasts", () => {
  const { look } = process();
  look(0, 100);
  expect(look(0.05, 100)).toBe(1);
  for (let i = 0; i < 10; i += 1) expect(look(0.9, 300)).toBe(1);
  expect(look(0.05, 300)).toBe(2);
});

test("a process that rests and does not grow is left alone", () => {
  const { look } = process();
  look(0, 100);
  expect(look(0.05, 100)).toBe(1);
  for (let i = 0; i < 100; i += 1) expect(look(0.05, 85)).toBe(1);
});

test("growth is seen from the least that was there since, and two collections lie apart", () => {
  const { look } = process();
  look(0, 100);
  expect(look(0.05, 100)).toBe(1);
  for (let i = 0; i < 3; i += 1) expect(look(0.05, 200)).toBe(1);
  expect(look(0.05, 60)).toBe(1);
  expect(look(0.05, 75)).toBe(2);
});

test("what grows is told from what the last collection left, and not from what was there before it", () => {
  const { look } = process();
  look(0, 100);
  expect(look(0.05, 100)).toBe(1);
  for (let i = 0; i < 3; i += 1) expect(look(0.05, 95)).toBe(1);
  expect(look(0.05, 95)).toBe(2);
});

test("what can be made again is given back by a process that has rested for a while, and not by one that is a little busy", () => {
  const { look, rests } = process();
  for (let i = 0; i < 100; i += 1) look(0.2, 200);
  expect(rests()).toBe(0);
  for (let i = 0; i < 5; i += 1) look(0.05, 200);
  expect(rests()).toBe(1);
});

test("a process that rests on does so once, until work has left something behind again", () => {
  const { look, rests } = process();
  for (let i = 0; i < 6; i += 1) look(0.05, 200);
  expect(rests()).toBe(1);
  for (let i = 0; i < 100; i += 1) look(0.05, 150);
  expect(rests()).toBe(1);
  for (let i = 0; i < 20; i += 1) look(0.9, 300);
  for (let i = 0; i < 4; i += 1) look(0.05, 180);
  expect(rests()).toBe(1);
  look(0.05, 180);
  expect(rests()).toBe(2);
});

test("nothing is given back while bodies wait to be answered, however little is computed", () => {
  const { look, rests } = process();
  look(0, 100);
  expect(look(0.05, 100)).toBe(1);
  for (let i = 0; i < 10; i += 1) expect(look(0.05, 300, 20)).toBe(1);
  expect(rests()).toBe(0);
  expect(look(0.05, 300)).toBe(2);
});

test("a body that trickles for longer than a minute puts off no collection", () => {
  const { look } = process();
  look(0, 100);
  expect(look(0.05, 100)).toBe(1);
  let collections = 1;
  for (let passedMs = 0; passedMs <= 62_000; passedMs += LOOK_EVERY_MS) collections = look(0.05, 300, 2);
  expect(collections).toBe(2);
});

test("whoever sends, however little work that is, is held by a collection every two minutes at most, from the start on", () => {
  const { look } = process();
  look(0, 100);
  const looks = 120_000 / LOOK_EVERY_MS;
  for (let i = 1; i < looks; i += 1) expect(look(0.2, 300, 0, 2)).toBe(0);
  expect(look(0.2, 300, 0, 2)).toBe(1);
  for (let i = 1; i < looks; i += 1) expect(look(0.2, 300, 0, 2)).toBe(1);
  expect(look(0.2, 300, 0, 2)).toBe(2);
});

test("what was sent is collected soon after the last of it, and what is hardly anything keeps nobody waiting", () => {
  const { look } = process();
  look(0, 100);
  expect(look(0.05, 100)).toBe(1);
  for (let i = 0; i < 10; i += 1) expect(look(0.2, 300, 0, 20)).toBe(1);
  expect(look(0.2, 300, 0, 0.5)).toBe(2);
});
