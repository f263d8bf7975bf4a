import { afterAll, beforeAll, expect, test } from "bun:test";
import { ADDRESS_SEARCH_FUNCTIONS } from "../../../query/functions/address-search.ts";
import { POSITION_FUNCTIONS } from "../../../query/functions/character-positions.ts";
import type { FunctionTable, Overload, Parameter } from "../../../query/functions/definition.ts";
import { ENCODING_FUNCTIONS } from "../../../query/functions/encodings.ts";
import { HASH_FUNCTIONS } from "../../../query/functions/hashes.ts";
import { IPV4_FUNCTIONS } from "../../../query/functions/ipv4-addresses.ts";
import { IPV6_FUNCTIONS } from "../../../query/functions/ipv6-addresses.ts";
import { REGEX_FUNCTIONS } from "../../../query/functions/regular-expressions.ts";
import { STRING_FUNCTIONS } from "../../../query/functions/strings.ts";
import { TERM_FUNCTIONS } from "../../../query/functions/term-search.ts";
import { PARSER_FUNCTIONS } from "../../../query/functions/text-parsers.ts";
import { URL_FUNCTIONS } from "../../../query/functions/urls.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { answered } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const TABLES: readonly FunctionTable[] = [
  ADDRESS_SEARCH_FUNCTIONS,
  ENCODING_FUNCTIONS,
  HASH_FUNCTIONS,
  IPV4_FUNCTIONS,
  IPV6_FUNCTIONS,
  PARSER_FUNCTIONS,
  POSITION_FUNCTIONS,
  REGEX_FUNCTIONS,
  STRING_FUNCTIONS,
  TERM_FUNCTIONS,
  URL_FUNCTIONS,
];

const TEXTS = [
  "",
  "a",
  "aab b",
  "ab".repeat(100),
  "\0a\0",
  "\\",
  "\\1\\9\\",
  "%zz%",
  "\x1a\x01\x1f\x1a\x1f",
  "é😀\u0301\ufdd0\u{10ff00}",
  "1.2.3.4",
  "1.2.3.4/33",
  "255.255.255.255/0",
  "999.1.1.1",
  "::1/200",
  "fe80::1%eth0",
  "::ffff:1.2.3.4/96",
  '{"a":',
  "[[[",
  '"',
  ',",,"""',
  "https://u:p@[::1]:99999999999/?&&=&a=b=c#",
  "S1FM=",
  "99999999999.9.9.9",
  "C:\\a\\:b:c/d",
];
const LONGS = [
  "0",
  "1",
  "-1",
  "long(null)",
  "9223372036854775807",
  "-9223372036854775807",
  "32",
  "129",
  "4294967295",
  "1114111",
  "55296",
];
const DYNAMICS = [
  "dynamic(null)",
  "dynamic([])",
  "dynamic({})",
  "dynamic('x')",
  "dynamic(7)",
  "dynamic([null, 1, 'a', {}, [300, -1]])",
  "dynamic({'a':'\\\\'})",
];

/** Every text, long and dynamic value, in combinations that differ from row to row. */
const ROWS = Array.from({ length: TEXTS.length * 6 }, (_, i) => {
  const at = (list: readonly string[], index: number) => list[index % list.length] ?? "";
  const text = (index: number) => JSON.stringify(at(TEXTS, index));
  const turn = Math.floor(i / TEXTS.length);
  return [text(i), text(i + 5 * turn), at(LONGS, i + turn), at(LONGS, 3 * i + turn), at(DYNAMICS, i + turn)];
});

/** The values of parameters that have to be constant. */
const CONSTANTS: Readonly<Record<string, string>> = {
  regex: "'(a)(b)?'",
  lookup_regex: "'(a)'",
  match: "'a|b'",
  captureGroup: "1",
  captureGroups: "dynamic([1])",
  kind: "'normal'",
  parser: "'windows'",
  searchList: "'ab'",
  replacementList: "'x'",
  lookups: "dynamic(['a', '.'])",
  rewrites: "dynamic(['b', ''])",
};

function argumentsFor({ name, type, isConstant }: Parameter, position: number): readonly string[] {
  if (isConstant) return [CONSTANTS[name] ?? `'no constant for ${name}'`];
  const types = type === "any" ? ["string", "long", "dynamic"] : [type].flat();
  const columns: Readonly<Record<string, string>> = {
    string: position % 2 === 0 ? "s" : "t",
    long: position % 2 === 0 ? "l" : "m",
    dynamic: "d",
    guid: "toguid(s)",
  };
  return types.map((one) => columns[one] ?? `'no column for ${one}'`);
}

/** Calls with every number of arguments, and in each place every kind of value that it takes. */
function callsOf(name: string, { parameters }: Overload): string[] {
  const fewest = parameters.filter(({ occurs }) => occurs === undefined).length;
  const calls: string[] = [];
  for (let count = fewest; count <= parameters.length; count++) {
    const choices = parameters.slice(0, count).map(argumentsFor);
    const most = Math.max(1, ...choices.map(({ length }) => length));
    for (let turn = 0; turn < most; turn++)
      calls.push(`${name}(${choices.map((choice) => choice[turn % choice.length]).join(", ")})`);
  }
  return calls;
}

const FUNCTIONS = TABLES.flatMap((table) => Object.entries(table));

test("no text, number or dynamic value makes a function on texts fail, or null where it promises a value", async () => {
  const runner = queryRunner(stores);
  const table = `datatable(s:string, t:string, l:long, m:long, d:dynamic)[${ROWS.flat().join(", ")}]`;
  for (const [name, { overloads }] of FUNCTIONS) {
    const calls = overloads.flatMap((overload) =>
      callsOf(name, overload).map((call) => ({ call, overload })),
    );
    const columns = calls.map(({ call }, i) => `v${i} = ${call}`).join(", ");
    const rows = await answered(runner, `${table} | project ${columns}`);
    expect(rows, name).toHaveLength(ROWS.length);
    const promised = calls.filter(
      ({ overload: { nulls, result } }) => nulls === "never" && result !== "dynamic",
    );
    for (const { call } of promised) {
      const column = calls.findIndex((other) => other.call === call);
      expect(
        rows.filter((row) => row[column] === null),
        call,
      ).toEqual([]);
    }
  }
});

test("no text makes an operator on texts fail", async () => {
  const runner = queryRunner(stores);
  const table = `datatable(s:string, t:string, l:long, m:long, d:dynamic)[${ROWS.flat().join(", ")}]`;
  const names = ["contains", "startswith", "endswith", "has", "hasprefix", "hassuffix", "like"];
  const columns = [...names.flatMap((name) => [name, `${name}_cs`]), "=~"].map(
    (name, i) => `v${i} = s ${name} t`,
  );
  const lists = ["a = s has_any (d)", "b = s has_all (d)", "c = s in~ (t, 'É')"];
  const rows = await answered(runner, `${table} | project ${[...columns, ...lists].join(", ")}`);
  expect(rows).toHaveLength(ROWS.length);
});
