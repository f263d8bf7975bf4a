/** How the miner groups lines whose events are known, beside floors that the figures of docs/patterns.md stand on. */
import { describe, expect, test } from "bun:test";
import { measureAccuracy, minePatterns } from "../../../../bench/patterns/accuracy.ts";
import { CLASS_SYSTEMS } from "../../../../bench/patterns/made-classes.ts";
import { SEEN_SYSTEMS, writeLines } from "../../../../bench/patterns/made-systems.ts";
import { PatternMiner } from "../../../../src/mining/miner.ts";

function groups(messages: readonly string[]): string[] {
  const found = new Map<number, string[]>();
  for (const [i, group] of minePatterns(messages).entries())
    found.set(group, [...(found.get(group) ?? []), messages[i] ?? ""]);
  return [...found.values()].map((members) => [...new Set(members)].toSorted().join("\n")).toSorted();
}

function templates(...messages: string[]): string[] {
  const miner = new PatternMiner();
  for (const message of messages) miner.add(message);
  return miner
    .patterns()
    .map(({ template }) => template)
    .toSorted();
}

describe("a place that has values takes values of another shape", () => {
  const cases: readonly [string, string, string, string][] = [
    [
      "a short host with its port",
      "open through 10.0.0.1:80 now",
      "open through gate:81 now",
      "open through <*> now",
    ],
    [
      "a name with a number in brackets",
      "synchronized to 10.0.0.1, stratum 2",
      "synchronized to LOCAL(0), stratum 9",
      "synchronized to <*>, stratum <*>",
    ],
    [
      "a unit in brackets",
      "wrote 120 of the blocks",
      "wrote 3.5[kg] of the blocks",
      "wrote <*> of the blocks",
    ],
    [
      "between fixed signs",
      "job <17> has ended well",
      "job <a(17)> has ended well",
      "job <<*>> has ended well",
    ],
  ];
  for (const [what, one, other, template] of cases)
    test(what, () => expect(templates(one, other)).toEqual([template]));

  test("not where the words around differ, or are fewer than two", () => {
    expect(templates("open 10.0.0.1 now", "shut gate:81 now")).toHaveLength(2);
    expect(templates("left=7 all done here", "right=a(7) all done here")).toHaveLength(2);
    expect(templates("at 10.0.0.1", "at gate:81")).toHaveLength(2);
  });
});

describe("few words that look alike are values", () => {
  test("what an act is done to", () => {
    expect(templates("removing cart", "removing sled", "removing wagon")).toEqual(["removing <*>"]);
  });
  test("codes of one length, and single letters", () => {
    expect(templates("TABLE: RAIL (v1 X)", "TABLE: TIES (v1 X)", "TABLE: LAMP (v1 X)")).toHaveLength(1);
    expect(templates("Link [A] (of it)", "Link [B] (of it)", "Link [D] (of it)")).toHaveLength(1);
    expect(templates("shard A is moved", "shard B is moved", "shard C is moved")).toEqual([
      "shard <*> is moved",
    ]);
  });
  test("quoted names", () => {
    expect(templates('fed "rye" now', 'fed "oat" now', 'fed "wheat" now')).toEqual(['fed "<*>" now']);
  });
  test("settings, from four", () => {
    const settings = ["red", "blue", "green", "clear"].map((name) => `shot filter=${name} ended`);
    expect(templates(...settings)).toEqual(["shot filter=<*> ended"]);
    expect(templates(...settings.slice(0, 3))).toHaveLength(3);
  });
  test("two of them, states at the end and codes of several lengths are not", () => {
    expect(templates("removing cart", "removing sled")).toHaveLength(2);
    expect(templates("link is DOWN", "link is OPEN", "link is IDLE")).toHaveLength(3);
    expect(templates("pass FAILED of it", "pass OK of it", "pass LATE of it")).toHaveLength(3);
  });
});

describe("names in two places at once are values where they meet in many ways", () => {
  const names = ["anna", "ben", "cleo", "dora", "emil", "fritz", "gina"];
  const handed = (pairs: readonly (readonly [number, number])[]) =>
    pairs.map(([i, j]) => `manager ${names[i]} handed dossier 7 over to ${names[j]} today`);
  // Each name meets two others: no place alone has enough of them.
  const met = names.flatMap((_, i) => [1, 3].map((step): [number, number] => [i, (i + step) % names.length]));

  test("whatever their order", () => {
    expect(templates(...handed(met))).toEqual(["manager <*> handed dossier <*> over to <*> today"]);
    expect(templates(...handed(met).toReversed())).toHaveLength(1);
  });
  test("not where the same few always meet, nor where fewer words are shared", () => {
    expect(templates(...handed(names.map((_, i) => [i, i])))).toHaveLength(names.length);
    expect(templates(...met.map(([i, j]) => `${names[i]} told ${names[j]}`))).toHaveLength(met.length);
  });
});

describe("few words in a place", () => {
  test("are values from three on inside a message that has a value and three other words", () => {
    const moved = ["north", "south", "middle"].map((rail) => `load moved over the ${rail} rail in 7 min`);
    expect(templates(...moved)).toHaveLength(1);
    expect(templates(...moved.slice(1))).toHaveLength(2);
    expect(templates("the disk rail is here", "the node rail is here", "the room rail is here")).toHaveLength(
      3,
    );
    const named = ["memory", "disk", "swap"].map((word) => `usage of the total ${word}: 7 MB`);
    expect(templates(...named)).toHaveLength(3);
  });
  test("are values from two on among settings, but neither at the end nor as the name of a constant", () => {
    const trend = (word: string) => `gauge 7: level=4 trend=${word} wind=9`;
    expect(templates(trend("rising"), trend("steady"))).toHaveLength(1);
    expect(templates(trend("RISING"), trend("STEADY"))).toHaveLength(2);
    expect(templates("gauge 7: level=4 trend=up", "gauge 7: level=4 trend=down")).toHaveLength(2);
  });
  test("are values in brackets, though one of them looks like a state", () => {
    const left = ["timeout", "quit", "kicked"].map((why) => `left match 7 (${why})`);
    expect(templates(...left)).toHaveLength(1);
  });
  test("are values where they are codes of one shape, or letters", () => {
    const codes = ["HH-AB", "KI-CD", "OS-EF"].map((code) => `lorry ${code} has left`);
    expect(templates(...codes)).toHaveLength(1);
    expect(templates(...["A", "AB", "O"].map((group) => `unit of ${group} was stored`))).toHaveLength(1);
  });
});

describe("lists of any length are one value", () => {
  const list = (count: number) =>
    Array.from({ length: count }, (_, i) => `node-${i + count} 0x${i + count}f <ok>`).join(" ");
  test("groups that repeat are known by one of them", () => {
    expect(templates(...[1, 2, 3, 9].map((count) => `nodes: ${list(count)} read`))).toEqual([
      "nodes: node-<*> <ok> read",
    ]);
  });
  test.each([
    [", ", ", "],
    ["; ", " and "],
    [", ", ", and "],
  ])("whatever parts their members: %j, and %j before the last", (separator, last) => {
    const members = (count: number) => Array.from({ length: count }, (_, i) => `lane-${i} 4${i} (full)`);
    const lists = [1, 2, 3, 6].map((count) => {
      const all = members(count);
      const end = all.pop() ?? "";
      return `cars ${all.length === 0 ? end : `${all.join(separator)}${last}${end}`}`;
    });
    expect(templates(...lists)).toHaveLength(1);
  });
  test("what is parted by a word that joins nothing is no list", () => {
    expect(templates("moved box 1 (a) to box 2 (a)", "moved box 1 (a)")).toHaveLength(2);
  });
  test("settings with names of their own are no list", () => {
    expect(templates("x a=1 b=2 c=3", "x a=1 b=2")).toHaveLength(2);
  });
});

/** Beside what two words in one place cost, which labelled logs take for events of their own. */
test.each(Object.entries(CLASS_SYSTEMS))(
  "of what is hard nearly all others are in right groups: %s",
  (_, events) => {
    const lines = writeLines(events);
    const { ga, fga } = measureAccuracy(minePatterns(lines.map(({ content }) => content)), lines);
    expect(ga).toBeGreaterThanOrEqual(0.65);
    expect(fga).toBeGreaterThanOrEqual(0.65);
  },
);

describe.each(Object.entries(SEEN_SYSTEMS))("%s", (_name, events) => {
  const lines = writeLines(events);
  test("nearly all its lines are in right groups", () => {
    const { ga } = measureAccuracy(minePatterns(lines.map(({ content }) => content)), lines);
    expect(ga).toBeGreaterThanOrEqual(0.8);
  });

  test("its words change nothing in the groups of another system", () => {
    const own = lines.map(({ content }) => content);
    for (const [other, otherEvents] of Object.entries(SEEN_SYSTEMS)) {
      if (otherEvents === events) continue;
      const others = writeLines(otherEvents).map(({ content }) => content);
      const together = groups([...own, ...others]);
      for (const group of groups(own)) expect(together, other).toContain(group);
    }
  });
});
