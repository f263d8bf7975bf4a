import { expect, test } from "bun:test";
import fc from "fast-check";
import { cellNumber, decodeAnswer } from "../../../clients/cli/query/answer.ts";
import { asCsvLines, asJsonLines, asTable } from "../../../clients/cli/query/row-formats.ts";

function answerOf(columns: readonly string[], rows: string) {
  const named = columns.map((name) => ({ name, type: "string" }));
  const stats = { rowsRead: 1, bytesRead: 2, elapsedMs: 3 };
  return decodeAnswer(
    `{"columns":${JSON.stringify(named)},"rows":${rows},"truncated":false,"stats":${JSON.stringify(stats)}}`,
    "http://server",
  );
}

/** RFC 4180, read by its grammar. */
function readCsv(text: string): string[][] {
  const records: string[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let record: string[] = [];
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const [, quoted, bare, end] = field.exec(text) ?? [];
    if (end === undefined) throw new Error(`no field at ${at}: ${JSON.stringify(text.slice(at, at + 50))}`);
    record.push(quoted?.replaceAll('""', '"') ?? bare ?? "");
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}

const cell = fc
  .array(fc.oneof(fc.constantFrom('"', ",", "\r", "\n", " ", "日本"), fc.string({ maxLength: 3 })), {
    maxLength: 5,
  })
  .map((pieces) => pieces.join(""));

test("CSV reads back as the texts it was made of", () => {
  const grids = fc
    .integer({ min: 1, max: 4 })
    .chain((count) =>
      fc.array(fc.array(cell, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 5 }),
    );
  fc.assert(
    fc.property(grids, ([header = [], ...rows]) => {
      const lines = asCsvLines(answerOf(header, JSON.stringify(rows)));
      expect(readCsv(lines.map((line) => `${line}\r\n`).join(""))).toEqual([header, ...rows]);
    }),
    { numRuns: 500 },
  );
});

test("CSV tells null from an empty text, and never writes an empty line", () => {
  expect(asCsvLines(answerOf(["a", "b"], '[[null,""],[null,null]]'))).toEqual(["a,b", ',""', ","]);
  expect(asCsvLines(answerOf(["a"], "[[null]]"))).toEqual(["a", '""']);
});

test("numbers keep every digit in each form", () => {
  const answer = answerOf(["n"], "[[9223372036854775807],[-9223372036854775808],[1.0],[1e300],[0.1]]");
  const digits = ["9223372036854775807", "-9223372036854775808", "1.0", "1e300", "0.1"];
  expect(asCsvLines(answer).slice(1)).toEqual(digits);
  expect(asJsonLines(answer)).toEqual(digits.map((text) => `{"n":${text}}`));
  expect(asTable(answer).rows).toEqual(digits.map((text) => [text]));
  expect(answer.rows.map(([value]) => cellNumber(value))).toEqual([2 ** 63, -(2 ** 63), 1, 1e300, 0.1]);
});

test("a JSON row has its members in the order of the columns, whatever their names", () => {
  const names = ["b", "2", "__proto__", "1", 'quo"te'];
  expect(asJsonLines(answerOf(names, '[[1,null,true,{"x":[1]},"t"]]'))).toEqual([
    '{"b":1,"2":null,"__proto__":true,"1":{"x":[1]},"quo\\"te":"t"}',
  ]);
});

test("a table shows dynamic values as JSON, null as nothing, and nothing that commands a terminal", () => {
  const answer = answerOf(["\u001b[2J"], '[[{"a":["\\u009b"]}],[null],[true],["a\\tb\\nc\\u202e"]]');
  expect(asTable(answer).columns[0]?.header).toBe("\\x1b[2J");
  expect(asTable(answer).rows).toEqual([['{"a":["\\x9b"]}'], [""], ["true"], ["a\\tb\\nc\\u202e"]]);
});

test("an answer without columns has rows of nothing", () => {
  const answer = answerOf([], "[[],[]]");
  expect({ csv: asCsvLines(answer), json: asJsonLines(answer) }).toEqual({ csv: [], json: ["{}", "{}"] });
});

test("what is no answer is refused", () => {
  for (const text of [
    "",
    "[]",
    "{}",
    '{"columns":[{}],"rows":[]}',
    '{"columns":[],"rows":[[1]]}',
    '{"columns":[],"rows":[{}]}',
  ])
    expect(() => decodeAnswer(text, "http://server")).toThrow("is it an obs server?");
});
