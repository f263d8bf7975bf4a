import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { complaintAbout, valuesOf } from "./answers.ts";

let stores: TestStores;
let runner: QueryRunner;
beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

/** A dynamic value is its JSON text, nothing is the empty one; a long is decimal text. */
type Cases = readonly (readonly [expression: string, value: unknown])[];

async function expectValues(cases: Cases): Promise<void> {
  expect(
    await valuesOf(
      runner,
      cases.map(([expression]) => expression),
    ),
  ).toEqual([...cases]);
}

const BAG = `dynamic({"host":{"name":"web-1","ports":[80,443]},"n":null,"tags":["a","b"]})`;
const DIGITS = "dynamic([1,2,3,4,5])";

describe("paths into dynamic values", () => {
  test("lead to members and elements, from the end for negative positions", () =>
    expectValues([
      [`parse_json('{"a":{"b":[10,20]}}').a.b[0]`, "10"],
      [`parse_json('{"a":{"b":[10,20]}}').a.b[-1]`, "20"],
      [`parse_json('{"a":{"b":[10,20]}}')["a"]["b"]`, "[10,20]"],
      [`parse_json('[{"x":"deep"}]')[0].x`, `"deep"`],
      [`${BAG}.host.ports[1]`, "443"],
      [`${BAG}["host"].name`, `"web-1"`],
      [`tostring(${BAG}.tags[1])`, "b"],
      [`parse_json('{"é":"ü","quote\\\\"d":1}')["é"]`, `"ü"`],
    ]));

  test("are null where there is nothing, and never the neighbour of what is wanted", () =>
    expectValues([
      [`${BAG}.missing`, ""],
      [`${BAG}.n`, ""],
      [`${BAG}.host.name.more`, ""],
      [`${BAG}.tags[2]`, ""],
      [`${BAG}.tags[-3]`, ""],
      // A position in a bag is no member, a key in an array no element.
      [`${BAG}.host[0]`, ""],
      [`${BAG}.tags["a"]`, ""],
      [`parse_json("plain text").x`, ""],
      [`parse_json("12")[0]`, ""],
      [`dynamic(null).x`, ""],
    ]));

  test("may be computed", () =>
    expectValues([
      [`${DIGITS}[array_length(${DIGITS}) - 1]`, "5"],
      [`${DIGITS}[0 - toint("2")]`, "4"],
      [`${DIGITS}[toint("x")]`, ""],
      [`${BAG}[strcat("ta", "gs")]`, `["a","b"]`],
      [`${BAG}[bag_keys(${BAG})[2]]`, `["a","b"]`],
      [`${BAG}[strcat("no", "ne")]`, ""],
    ]));

  test("of extract_json() are texts, or what typeof() asks for", async () => {
    await expectValues([
      [`extract_json("$.a[1].b", '{"a":[{},{"b":"x"}]}')`, "x"],
      [`extract_json("$['a b']", '{"a b":1}')`, "1"],
      [`extractjson("$.a", '{"a":41}', typeof(long)) + 1`, "42"],
      [`extract_json("$.b", '{"a":41}')`, ""],
      [`extract_json("$.a", 'no JSON')`, ""],
    ]);
    expect(complaintAbout(`print extract_json("$..a", "{}")`)?.message).toContain("keys and positions only");
  });
});

describe("dynamic values", () => {
  test("are what a text says, or that text", () =>
    expectValues([
      [`parse_json('{ "a" : [ 1, "x/y", null ] }')`, `{"a":[1,"x/y",null]}`],
      [`todynamic("[]")`, "[]"],
      [`parse_json("")`, ""],
      [`parse_json("null")`, ""],
      [`parse_json("not { JSON")`, `"not { JSON"`],
      [`parse_json("7 days")`, `"7 days"`],
      [`todynamic(5)`, "5"],
      [`todynamic(1d)`, `"1.00:00:00"`],
      [`parse_json(dynamic({"a":1})).a`, "1"],
      [
        `dynamic_to_json(dynamic({"b":{"d":1,"c":[{"z":1,"y":2}]},"a":2}))`,
        `{"a":2,"b":{"c":[{"y":2,"z":1}],"d":1}}`,
      ],
      [`dynamic_to_json("text")`, "text"],
      [
        `treepath(dynamic({"a":{"b":[1,{"c":2}]},"d":3}))`,
        `["['a']","['a']['b']","['a']['b'][0]","['a']['b'][0]['c']","['d']"]`,
      ],
      [`treepath(dynamic(4))`, ""],
    ]));

  test("come in ranges and repetitions", () =>
    expectValues([
      [`range(1, 10, 4)`, "[1,5,9]"],
      [`range(3, 1)`, "[]"],
      [`range(3, 1, -1)`, "[3,2,1]"],
      [`range(1, 3, 0)`, "[]"],
      [`range(0.5, 1.5, 0.5)`, "[0.5,1.0,1.5]"],
      [`range(1h, 3h, 1h)`, `["01:00:00","02:00:00","03:00:00"]`],
      [
        `range(datetime(2024-02-28), datetime(2024-03-01), 1d)`,
        `["2024-02-28T00:00:00.0000000Z","2024-02-29T00:00:00.0000000Z","2024-03-01T00:00:00.0000000Z"]`,
      ],
      [`range(long(null), 3)`, ""],
      [`array_length(range(1, 99999999))`, "1048576"],
      [`repeat("x", 2)`, `["x","x"]`],
      [`repeat(1.5, 0)`, "[]"],
      [`repeat(1, -1)`, ""],
      [`array_length(repeat(1, 99999999))`, "1048576"],
    ]));

  test("are lists to look in", () =>
    expectValues([
      [`"b" in (${BAG}.tags)`, true],
      [`"B" in (${BAG}.tags)`, false],
      [`"B" in~ (${BAG}.tags)`, true],
      [`443 in (${BAG}.host.ports)`, true],
      [`443.0 in (${BAG}.host.ports)`, true],
      [`"web-1" in (${BAG}.host.name)`, true],
      [`1 in (${BAG}.missing)`, false],
    ]));
});

describe("arrays", () => {
  test("have lengths and positions", () =>
    expectValues([
      [`array_length(${DIGITS})`, "5"],
      [`array_length(dynamic([]))`, "0"],
      [`array_length(${BAG})`, null],
      [`array_index_of(dynamic(["a","b","a"]), "a")`, "0"],
      [`array_index_of(dynamic(["a","b","a"]), "c")`, "-1"],
      [`array_index_of(dynamic(["a","b","a"]), "a", 1)`, "2"],
      [`array_index_of(dynamic(["a","b","a"]), "a", 0, -1, 2)`, "2"],
      [`array_index_of(dynamic(["a","b","a"]), "a", 1, 1)`, "-1"],
      [`array_index_of(dynamic(["a","b","a"]), "b", -1)`, "-1"],
      [`array_index_of(dynamic([1,2.5]), 2.5)`, "1"],
      [`array_index_of(${BAG}, 1)`, null],
    ]));

  test("are cut, moved and joined", () =>
    expectValues([
      [`array_slice(${DIGITS}, 1, 2)`, "[2,3]"],
      [`array_slice(${DIGITS}, -2, -1)`, "[4,5]"],
      [`array_slice(${DIGITS}, -99, 99)`, "[1,2,3,4,5]"],
      [`array_slice(${DIGITS}, 3, 1)`, "[]"],
      [`array_slice(${BAG}, 0, 1)`, ""],
      [`array_split(${DIGITS}, dynamic([1,-1]))`, "[[1],[2,3,4],[5]]"],
      [`array_split(${DIGITS}, 2)`, "[[1,2],[3,4,5]]"],
      [`array_rotate_left(${DIGITS}, 6)`, "[2,3,4,5,1]"],
      [`array_rotate_right(${DIGITS}, 2)`, "[4,5,1,2,3]"],
      [`array_shift_left(${DIGITS}, 2)`, "[3,4,5,null,null]"],
      [`array_shift_right(${DIGITS}, 2, "x")`, `["x","x",1,2,3]`],
      [`array_shift_left(${DIGITS}, 9, 0)`, "[0,0,0,0,0]"],
      [`array_reverse(dynamic(["a",null,{"b":1}]))`, `[{"b":1},null,"a"]`],
      [`array_concat(${DIGITS}, dynamic(["x"]), dynamic([[1]]), dynamic(null))`, `[1,2,3,4,5,"x",[1]]`],
      [`array_iff(dynamic([true,false,1,"x"]), ${DIGITS}, "no")`, `[1,"no",3,null]`],
      [`zip(dynamic([1,2]), dynamic(["a"]))`, `[[1,"a"],[2,null]]`],
      [
        `pack_array(1, "x", 2h, datetime(2024-01-02), dynamic(null), ${BAG}.tags, 0.5, true)`,
        `[1,"x","02:00:00","2024-01-02T00:00:00.0000000Z",null,["a","b"],0.5,true]`,
      ],
    ]));

  test("are added up when they hold numbers", () =>
    expectValues([
      [`array_sum(dynamic([1,2.5,null]))`, 3.5],
      [`array_sum(dynamic([]))`, null],
      [`array_sum(dynamic([1,"2"]))`, null],
      [`array_sum(dynamic(7))`, null],
    ]));

  test("are sorted: numbers, texts, the rest, and nulls where they are wanted", async () => {
    await expectValues([
      [`array_sort_asc(dynamic([10,9,"b","a b","a",null,true]))`, `[9,10,"a","a b","b",true,null]`],
      [`array_sort_desc(dynamic([9,10,"b","a",null]))`, `[10,9,"b","a",null]`],
      [`array_sort_asc(dynamic([2,null,1]), false)`, "[null,1,2]"],
      [`array_sort_desc(dynamic([2,null,3]), false)`, "[null,3,2]"],
      [`array_sort_asc(dynamic([9007199254740993,9007199254740992]))`, "[9007199254740992,9007199254740993]"],
      [`array_sort_asc(dynamic([3,1,2]), dynamic(["c","a","b"]), dynamic([1]))[1]`, `["a","b","c"]`],
      [`array_sort_asc(dynamic([3,1,2]), dynamic(["c","a","b"]), dynamic([1]))[2]`, ""],
      [`array_sort_asc(${BAG})`, ""],
    ]);
  });

  test("are sets", () =>
    expectValues([
      [`set_union(dynamic([1,2,1]), dynamic([3,2]))`, "[1,2,3]"],
      [`set_union(dynamic(null), dynamic([3]))`, "[3]"],
      [`set_intersect(dynamic(["c","a","c","b"]), dynamic(["b","c"]), dynamic(["c"]))`, `["c"]`],
      [`set_difference(dynamic([1,2,2,null]), dynamic([1]), dynamic([null]))`, "[2]"],
      [`set_difference(dynamic(null), dynamic([1]))`, ""],
      [`set_has_element(dynamic(["a"]), "a")`, true],
      [`set_has_element(dynamic(["a"]), 1)`, false],
      [`set_has_element(${BAG}, 1)`, null],
      [`set_equals(dynamic([1,2]), dynamic([2,1,1]))`, true],
      [`jaccard_index(dynamic([1,2]), dynamic([2,3]))`, 1 / 3],
      [`jaccard_index(dynamic([1,2]), dynamic(null))`, null],
    ]));
});

describe("property bags", () => {
  test("are packed and looked into", () =>
    expectValues([
      [`bag_pack("a", 1, "b", "x/y", "c", dynamic(null))`, `{"a":1,"b":"x/y","c":null}`],
      [`pack("k", pack("inner", 1))`, `{"k":{"inner":1}}`],
      [`bag_keys(${BAG})`, `["host","n","tags"]`],
      [`bag_keys(${DIGITS})`, ""],
      [`bag_has_key(${BAG}, "n")`, true],
      [`bag_has_key(${BAG}, "$.host.name")`, true],
      [`bag_has_key(${BAG}, "$.host.nothing")`, false],
      [`bag_has_key(${DIGITS}, "n")`, false],
      [`bag_zip(dynamic(["a",1,"b","c"]), dynamic([1,2,"x"]))`, `{"a":1,"b":"x","c":null}`],
      [`bag_zip(dynamic("a"), dynamic([1]))`, ""],
    ]));

  test("are merged and changed", async () => {
    await expectValues([
      [`bag_merge(dynamic({"a":1,"b":2}), dynamic({"b":3,"c":4}), dynamic(null))`, `{"a":1,"b":2,"c":4}`],
      [`bag_merge(dynamic(null), dynamic([1]))`, ""],
      [
        `bag_remove_keys(dynamic({"a":1,"b":{"c":1,"d":2},"e":3}), dynamic(["a","$.b.c","x"]))`,
        `{"b":{"d":2},"e":3}`,
      ],
      [`bag_remove_keys(dynamic({"a":1,"b":2}), split("b,c", ","))`, `{"a":1}`],
      [`bag_remove_keys(${DIGITS}, dynamic(["a"]))`, ""],
      [`bag_set_key(dynamic({"a":1,"b":2}), "a", "x")`, `{"a":"x","b":2}`],
      [`bag_set_key(dynamic({"a":1}), strcat("b", "c"), 2)`, `{"a":1,"bc":2}`],
      [`bag_set_key(dynamic({"a":{"b":1}}), "$.a.c.d", 2)`, `{"a":{"b":1,"c":{"d":2}}}`],
      [`bag_set_key(dynamic({"a":5}), "$.a.c", 2)`, `{"a":{"c":2}}`],
      [`bag_set_key(${DIGITS}, "a", 1)`, ""],
    ]);
    expect(complaintAbout(`print bag_has_key(dynamic({}), "$.a[0]")`)?.message).toContain("keys only");
    expect(complaintAbout(`print bag_pack("a")`)?.message).toContain("pairs");
  });
});

test("no function of dynamic values fails, whatever the text", async () => {
  const source = fc.oneof(
    fc.json(),
    fc.string({ unit: fc.constantFrom(...'{}[]":,01.e-nul \\/ab\u0000é'), maxLength: 20 }),
  );
  const functions = [
    "array_length(d)",
    "d.a",
    "d[0]",
    "d[-2].a.b",
    "array_sort_asc(d)",
    "array_slice(d, -3, 4)",
    "bag_keys(d)",
    "bag_merge(d, d)",
    "set_union(d, d)",
    "treepath(d)",
    "dynamic_to_json(d)",
    "zip(d, d)",
    "bag_zip(d, d)",
    "array_sum(d)",
    "array_split(d, d)",
    "bag_set_key(d, '$.a.b', d)",
    "bag_remove_keys(d, d)",
    "array_iff(d, d, d)",
    "jaccard_index(d, d)",
    "d[d]",
    "array_index_of(d, d)",
  ];
  await fc.assert(
    fc.asyncProperty(source, async (text) => {
      const quoted = JSON.stringify(text);
      const values = await valuesOf(
        runner,
        functions.map((expression) => expression.replace(/\bd\b/g, `parse_json(${quoted})`)),
      );
      expect(values).toHaveLength(functions.length);
    }),
    { numRuns: 20 },
  );
});

test("arrays are moved, cut and combined as a model of them says, for random ones", async () => {
  const numbers = fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 8 });
  const position = fc.integer({ min: -10, max: 10 });
  const json = (value: unknown) => JSON.stringify(value);
  await fc.assert(
    fc.asyncProperty(numbers, numbers, position, position, async (left, right, from, to) => {
      const [a, b, size] = [`dynamic(${json(left)})`, `dynamic(${json(right)})`, left.length];
      const start = Math.min(from < 0 ? Math.max(from + size, 0) : from, size);
      const end = to < 0 ? to + size : Math.min(to, size - 1);
      const turns = size === 0 ? 0 : ((from % size) + size) % size;
      const steps = Math.max(Math.min(from, size), -size);
      const filling = Array.from({ length: Math.abs(steps) }, () => null);
      await expectValues([
        [`array_slice(${a}, ${from}, ${to})`, json(left.slice(start, Math.max(end + 1, start)))],
        [`array_rotate_left(${a}, ${from})`, json([...left.slice(turns), ...left.slice(0, turns)])],
        [`array_rotate_right(${a}, -(${from}))`, json([...left.slice(turns), ...left.slice(0, turns)])],
        [
          `array_shift_left(${a}, ${from})`,
          json(steps < 0 ? [...filling, ...left.slice(0, size + steps)] : [...left.slice(steps), ...filling]),
        ],
        [`array_sort_desc(${a})`, json(left.toSorted((x, y) => y - x))],
        [`array_index_of(${a}, ${to})`, String(left.indexOf(to))],
        [`set_union(${a}, ${b})`, json([...new Set([...left, ...right])])],
        [`set_intersect(${a}, ${b})`, json([...new Set(left)].filter((item) => right.includes(item)))],
        [`set_difference(${a}, ${b})`, json([...new Set(left)].filter((item) => !right.includes(item)))],
      ]);
    }),
    { numRuns: 30 },
  );
});
