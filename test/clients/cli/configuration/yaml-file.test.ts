import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { stringify } from "yaml";
import { pointerTo, readYaml } from "../../../../clients/cli/configuration/yaml-file.ts";
import { YAML_MAX_DEPTH, YAML_MAX_NODES } from "../../../../clients/cli/limits.ts";

const FILE = "a.yaml";
const problemsOf = (text: string): string[] =>
  readYaml(FILE, text).problems.map(({ place, message }) => `${place.line}:${place.column} ${message}`);

describe("a YAML file", () => {
  test("is read as the JSON that it stands for, and every value has its place", () => {
    // Whole numbers with more digits than are kept are refused.
    const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => !/\d{16}|\de\+/.test(JSON.stringify(value)));
    fc.assert(
      fc.property(json, (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        const { value: read, places, problems } = readYaml(FILE, stringify({ top: plain }));
        expect(problems).toEqual([]);
        expect(read).toEqual({ top: plain });
        for (const pointer of pointersOf(plain, "/top")) expect(places.has(pointer)).toBe(true);
      }),
    );
  });

  test("never makes the reader throw", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(..."ab:-&*!{}[],#'\"|>%@ \n\t?~0.".split("")) }),
        (text) => {
          expect(Array.isArray(readYaml(FILE, text).problems)).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("says where a value stands by its line and column, of what is on several lines by its key", () => {
    const { places } = readYaml(FILE, "monitors:\n  web:\n    name: Web\n    tags: [a,\n      b]\n");
    const at = (pointer: string) => places.get(pointer);
    expect(at("/monitors/web")).toEqual({ file: FILE, line: 2, column: 3 });
    expect(at("/monitors/web/name")).toEqual({ file: FILE, line: 3, column: 11 });
    expect(at("/monitors/web/tags/1")).toEqual({ file: FILE, line: 5, column: 7 });
  });

  test("keeps texts that older versions of YAML took for something else", () => {
    const { value } = readYaml(
      FILE,
      "a: no\nb: 2030-01-01T09:00:00Z\nc: 1_000\nd: 012\ne: on\n7: x\n__proto__: y\n",
    );
    expect(JSON.stringify(value)).toBe(
      '{"7":"x","a":"no","b":"2030-01-01T09:00:00Z","c":"1_000","d":12,"e":"on","__proto__":"y"}',
    );
  });

  test.each([
    ["a key twice", "a:\n  b: 1\n  b: 2\n", "3:3 b stands here twice"],
    ["a key twice with quotes", 'a: 1\n"a": 2\n', "2:1 a stands here twice"],
    ["a key that is no text", "? [a]\n: b\n", "1:3 is no key: only a text can be one"],
    ["a number with too many digits", "a: 12345678901234567890\n", "1:4 is a number with more digits"],
    ["what is no number", "a: .inf\n", "1:4 is nothing that JSON has"],
    ["an alias of nothing", "a: *b\n", "1:4 "],
    ["a type of another program", "a: !!js/function 'x'\n", "1:4 "],
    ["a second document", "a: 1\n---\nb: 2\n", "2:1 "],
    ["a bracket that is never closed", "a: [1, 2\n", "2:1 "],
    ["a tab for a space", "a:\n\tb: 1\n", "2:1 "],
  ])("is refused for %s, at its place", (_what, text, problem) => {
    expect(problemsOf(text)[0]).toStartWith(problem);
  });
});

describe("what would fill the memory", () => {
  test("aliases of aliases are counted as often as they repeat", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let n = 1; n < 30; n++)
      lines.push(
        `a${n}: &a${n} [${Array(10)
          .fill(`*a${n - 1}`)
          .join(", ")}]`,
      );
    expect(problemsOf(lines.join("\n"))[0]).toContain(`more than ${YAML_MAX_NODES} values`);
  });

  test("a value that holds itself ends", () => {
    expect(problemsOf("a: &a [*a]\n")[0]).toContain(`more than ${YAML_MAX_DEPTH} levels`);
  });

  test("so do levels beyond the bound, however many", () => {
    for (const levels of [YAML_MAX_DEPTH + 2, 100_000])
      expect(problemsOf(`a: ${"[".repeat(levels)}${"]".repeat(levels)}`)[0]).toBeString();
  });

  test("many keys are read in their number's time", () => {
    const text = Array.from({ length: 100_000 }, (_, n) => `k${n}: 1`).join("\n");
    expect(readYaml(FILE, text).problems).toEqual([]);
  });
});

function pointersOf(value: unknown, at: string): string[] {
  if (Array.isArray(value)) return [at, ...value.flatMap((item, n) => pointersOf(item, `${at}/${n}`))];
  if (typeof value !== "object" || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, item]) => pointersOf(item, at + pointerTo(name)))];
}
