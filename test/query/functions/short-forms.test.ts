import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { idAt, insertRows } from "../../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { rowOfQuery, rowsOfQuery } from "./answers.ts";

// Where the SQL takes a short way, the answer is that of the long one: an enumeration that is grouped as it is stored,
// an attribute that is read without its type, an array of strings that never becomes JSON, a bin that is a number.

const ENTRIES: readonly (readonly [level: string, message: string, code: string | null, isJson: boolean])[] =
  [
    ["warn", "job_failed, 7 left", "500", true],
    ["error", "“failed” at noon", "500", false],
    ["fatal", "failedé to start", "true", true],
    ["error", "größe: FAILED", "true", false],
    ["", "\u212aelvin failed2", " 502 ", false],
    ["info", "kelvin — failed—", "1e999", true],
    ["debug", "x failed\u0301", "", false],
    ["warn", "9failed", null, false],
  ];

let stores: TestStores;
let runner: QueryRunner;
beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
  await insertRows(
    stores.clickhouse,
    ENTRIES.map(([level, message, code, isJson], i) => ({
      organizationId: 1,
      ts: BigInt(i) * 40_000_000_000n,
      id: idAt(Date.UTC(2026, 0, 1), i),
      level,
      message,
      attrs: code === null ? [] : [["code", code] as const],
      jsonKeys: isJson ? ["code"] : [],
    })),
  );
});
afterAll(() => stores.close());

/** The numbers, from 0, of the entries for which the condition holds. */
async function entriesWhere(condition: string): Promise<number[]> {
  const rows = await rowsOfQuery(
    runner,
    `logs | where ${condition} | sort by ts asc | project n = (ts - datetime(1970-01-01)) / 40s`,
  );
  return rows.map(([n]) => Math.round(Number(n)));
}

describe("an enumeration", () => {
  test("is aggregated as its texts are: their order, and none of them a null", async () => {
    const aggregates = (level: string) =>
      `logs | sort by ts asc | summarize make_set(${level}), make_list(${level}), make_list_with_nulls(${level}),
        make_set_if(${level}, attrs.code == 500), make_set(${level}, 2), min(${level}), max(${level}),
        minif(${level}, ${level} != ''), maxif(${level}, message has 'nothing'), dcount(${level}),
        count_distinct(${level}), take_anyif(${level}, message has 'noon'), take_anyif(${level}, message has 'nothing')`;
    const stored = await rowOfQuery(runner, aggregates("level"));
    expect(stored).toEqual(await rowOfQuery(runner, aggregates("strcat(level, '')")));
    expect(stored.slice(0, 8)).toEqual([
      '["warn","error","fatal","","info","debug"]',
      '["warn","error","fatal","error","","info","debug","warn"]',
      '["warn","error","fatal","error","","info","debug","warn"]',
      '["warn","error"]',
      '["warn","error"]',
      "",
      "warn",
      "debug",
    ]);
  });

  test("of the row of an extreme is its text", async () => {
    const query =
      "logs | summarize arg_max(ts, level), arg_min(todouble(attrs.code), level), arg_max(level, ts)";
    const [, last, , least, largest] = await rowOfQuery(runner, query);
    expect([last, least, largest]).toEqual(["warn", "fatal", "warn"]);
  });

  test("of nothing is the empty text", async () => {
    const query =
      "logs | where message has 'nothing' | summarize take_any(level), min(level), make_set(level)";
    expect(await rowOfQuery(runner, query)).toEqual(["", "", "[]"]);
  });

  test("is compared with texts that are no member of it", async () => {
    expect(await entriesWhere("level == 'error'")).toEqual([1, 3]);
    expect(await entriesWhere("level != 'error' and level != 'Error'")).toEqual([0, 2, 4, 5, 6, 7]);
    expect(await entriesWhere("level == 'Error'")).toEqual([]);
    expect(await entriesWhere("('error' != level) == false")).toEqual([1, 3]);
  });
});

describe("a term", () => {
  test("is found by its borders, of ASCII or not", async () => {
    expect(await entriesWhere("message has 'Failed'")).toEqual([0, 1, 3, 5, 6]);
    expect(await entriesWhere("message has_cs 'failed'")).toEqual([0, 1, 5, 6]);
    expect(await entriesWhere("message has_any ('FAILED', 'Kelvin')")).toEqual([0, 1, 3, 5, 6]);
    expect(await entriesWhere("message has 'kelvin'")).toEqual([5]);
    expect(await entriesWhere("message has_any ('größe', 'kelvin', 'job')")).toEqual([0, 3, 5]);
    expect(await entriesWhere("message has_any ('left', 'at noon')")).toEqual([0, 1]);
    expect(await entriesWhere("message has_all ('failed', '7')")).toEqual([0]);
  });
});

describe("an attribute compared with a number", () => {
  test("is what it is in the long way too, whatever the number", async () => {
    const numbers = ["0", "1", "500", "502", "-1", "0.5", "real(nan)", "real(+inf)"];
    for (const operator of ["<", "<=", ">", ">=", "==", "!="])
      for (const number of numbers) {
        const long = await entriesWhere(`(todouble(attrs.code) + 0) ${operator} ${number}`);
        expect(await entriesWhere(`attrs.code ${operator} ${number}`)).toEqual(long);
        expect(await entriesWhere(`level == 'x' or ${number} ${mirrored(operator)} attrs.code`)).toEqual(
          long,
        );
      }
  });

  test("is false for a truth value and unknown for a text, where that is told apart", async () => {
    expect(await entriesWhere("attrs.code > 499")).toEqual([0, 1, 4, 5]);
    expect(await entriesWhere("not(attrs.code > 499)")).toEqual([2]);
    expect(await entriesWhere("attrs.code in (500, 502)")).toEqual([0, 1, 4]);
    expect(await entriesWhere("attrs.code in (1, 502)")).toEqual([2, 4]);
  });
});

function mirrored(operator: string): string {
  return operator.replace(/[<>]/, (sign) => (sign === "<" ? ">" : "<"));
}

describe("an array of strings", () => {
  const PARTS = "logs | where message has '7' | extend p = split(message, ' ')";

  test("is the same value to everything that asks for it", async () => {
    const answer = await rowOfQuery(
      runner,
      `${PARTS} | project p, p[1], array_length(p), tostring(p), strcat_array(p, '-'), p has 'left', gettype(p)`,
    );
    expect(answer).toEqual([
      '["job_failed,","7","left"]',
      '"7"',
      "3",
      '["job_failed,","7","left"]',
      "job_failed,-7-left",
      true,
      "array",
    ]);
  });

  test("expands to its strings, alone and beside others", async () => {
    const rows = (query: string) => rowsOfQuery(runner, `${PARTS} | ${query}`);
    expect(await rows("mv-expand p | project p, tostring(p), tolong(p)")).toEqual([
      ['"job_failed,"', "job_failed,", null],
      ['"7"', "7", "7"],
      ['"left"', "left", null],
    ]);
    expect(await rows("mv-expand with_itemindex=i p to typeof(string) limit 2 | project i, p")).toEqual([
      ["0", "job_failed,"],
      ["1", "7"],
    ]);
    expect(await rows("mv-expand q = split('a,', ','), p | project q, p")).toEqual([
      ['"a"', '"job_failed,"'],
      ['""', '"7"'],
      ["", '"left"'],
    ]);
    expect(await rows("mv-expand q = parse_csv('\"a,b\",c') to typeof(string) | project q")).toEqual([
      ["a,b"],
      ["c"],
    ]);
    expect(await rows("mv-apply p to typeof(string) on (where p startswith 'l') | project p")).toEqual([
      ["left"],
    ]);
    expect(await rows("mv-expand q = p | mv-expand r = q | summarize n = count(), make_list(r)")).toEqual([
      ["3", '["job_failed,","7","left"]'],
    ]);
  });

  test("goes through joins, unions and orders like every dynamic value", async () => {
    const joined = `${PARTS} | project id, p | join kind=leftouter (${PARTS} | project id, q = p) on id | project p, q`;
    expect(await rowsOfQuery(runner, joined)).toEqual([
      ['["job_failed,","7","left"]', '["job_failed,","7","left"]'],
    ]);
    const united = `${PARTS} | project p | union (print p = dynamic([1])) | project t = tostring(p) | sort by t asc`;
    expect(await rowsOfQuery(runner, united)).toEqual([['["job_failed,","7","left"]'], ["[1]"]]);
  });
});

test("groups by a bin are the bins of the rows, for any time and size", async () => {
  const sizes = ["5s", "1m", "7m", "1h", "12h", "1d", "7d", "1s", "90ms"];
  const earliest = Date.UTC(1900, 0, 2);
  const latest = Date.UTC(2262, 3, 10);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: earliest, max: latest }), { minLength: 1, maxLength: 20 }),
      fc.constantFrom(...sizes),
      async (times, size) => {
        const list = times.map((ms) => `datetime(${new Date(ms).toISOString()})`).join(", ");
        const table = `datatable(t: datetime)[${list}, datetime(null)] | extend b = bin(t, ${size})`;
        const grouped = await rowsOfQuery(runner, `${table} | summarize n = count() by b | sort by b asc`);
        const binned = await rowsOfQuery(
          runner,
          `${table.replace(" | extend b =", " | summarize n = count() by b =")} | sort by b asc`,
        );
        expect(binned).toEqual(grouped);
      },
    ),
    { numRuns: 40 },
  );
});
