import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { complaintAbout } from "./answers.ts";
import { type Case, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

async function expectValues(cases: readonly Case[]): Promise<void> {
  expect(await wrongCases(queryRunner(stores), cases)).toEqual([]);
}

test("lengths count characters or bytes, of the text of any value", () =>
  expectValues([
    ["strlen('naïve😀')", 6],
    ["strlen('')", 0],
    ["strlen(12345)", 5],
    ["string_size('naïve')", 6],
    ["string_size(dynamic(null))", 0],
    ["isascii('plain')", true],
    ["isascii('naïve')", false],
    ["isutf8('naïve')", true],
  ]));

test("letters change their case one by one", () =>
  expectValues([
    ["toupper('Straße ǆ ŉ ᾀ')", "STRAßE Ǆ ŉ ᾈ"],
    ["tolower('ΟΔΟΣ ÅB')", "οδοσ åb"],
    ["tolower('İ')", "İ"],
    ["toupper('')", ""],
    ["tolower(dynamic('ABC'))", "abc"],
    ["toupper(true)", "TRUE"],
  ]));

test("substring counts characters from 0, or from the end", () =>
  expectValues([
    ["substring('naïve', 2, 2)", "ïv"],
    ["substring('naïve', 3)", "ve"],
    ["substring('naïve', -2)", "ve"],
    ["substring('naïve', -2, 1)", "v"],
    ["substring('abc', -10, 2)", ""],
    ["substring('abc', 1, -1)", ""],
    ["substring('abc', 9, 2)", ""],
    ["substring('abc', 1, 9223372036854775807)", "bc"],
    ["substring('abc', 9223372036854775807)", ""],
    ["substring('abc', long(null), 2)", "ab"],
    ["substring(12345, 1, 2)", "23"],
    ["substring('abcdef', toint('2'), toint('3'))", "cde"],
  ]));

test("texts of any values are put together", () =>
  expectValues([
    ["strcat('a', 1, true, 1.5, 2d)", "a1True1.52.00:00:00"],
    ["strcat('a', int(null), dynamic(null), 'b')", "ab"],
    ["strcat('only')", "only"],
    ["strcat(dynamic({'a':1}), dynamic('x'))", '{"a":1}x'],
    ["strcat_delim('-', 'a', 1, true)", "a-1-True"],
    ["strcat_delim(strcat('<', '>'), 'a', '', 'b')", "a<><>b"],
    ["strcat_array(dynamic([1, 'b', null, [2]]), '; ')", "1; b; ; [2]"],
    ["strcat_array(dynamic([]), ',')", ""],
    ["strcat_array(dynamic(null), ',')", ""],
    ["strcat_array(dynamic(['a', 'b']), strcat('-', '-'))", "a--b"],
    ["strrep('ab', 3)", "ababab"],
    ["strrep('ab', 2, '-')", "ab-ab"],
    ["strrep(7, 0, '-')", ""],
    ["strrep('ab', -1)", ""],
    ["strlen(strrep('x', 1000000000000))", 10_000],
    ["reverse('añ😀')", "😀ña"],
    ["reverse(123)", "321"],
  ]));

test("split makes an array, of one part or none with an index", () =>
  expectValues([
    ["split('a,,b', ',')", ["a", "", "b"]],
    ["split('', ',')", [""]],
    ["split('a--b', '--')", ["a", "b"]],
    ["split('abc', '')", ["abc"]],
    ["split('a,b', ',', 1)", ["b"]],
    ["split('a,b', ',', 2)", null],
    ["split('a,b', ',', -1)", null],
    ["split('a/b\"c', '/')", ["a", 'b"c']],
    ["split('a1b1', tostring(1))", ["a", "b", ""]],
    ["split('ab', strcat('', ''))", ["ab"]],
    ["split('key=value', '=')[1]", "value"],
  ]));

test("positions count characters; a length and an occurrence narrow the search", () =>
  expectValues([
    ["indexof('naïve ï', 'ï')", 2],
    ["indexof('naïve ï', 'ï', 3)", 6],
    ["indexof('abc', 'x')", -1],
    ["indexof('abcdefg', 'cde', -5)", 2],
    ["indexof('abcdefg', 'cde', 1, 4)", 2],
    ["indexof('abcdefg', 'cde', 1, 3)", 2],
    ["indexof('abcabcabc', 'abc', 0, -1, 3)", 6],
    ["indexof('abcabcabc', 'abc', 0, -1, 4)", -1],
    ["indexof('abc', 'b', 0, -2)", null],
    ["indexof('abc', 'b', 0, -1, 0)", null],
    ["indexof(1234, 3)", 2],
    ["indexof('abc', '')", 0],
    ["indexof('abc', 'c', -9223372036854775807)", 2],
  ]));

test("occurrences may overlap", () =>
  expectValues([
    ["countof('aaaa', 'aa')", 3],
    ["countof('ababa', 'aba')", 2],
    ["countof('ababa', 'ab')", 2],
    ["countof('ababa', strcat('ab', 'a'))", 2],
    ["countof('abc', '')", 0],
    ["countof('', 'a')", 0],
    ["countof('ééé', 'é')", 3],
  ]));

test("replacements are texts, and are not replaced again", () =>
  expectValues([
    ["replace_string('a.b.c', '.', '\\\\0')", "a\\0b\\0c"],
    ["replace_string('abc', '', 'x')", "abc"],
    ["replace_string('aaa', 'aa', 'b')", "ba"],
    ["replace_string('a-b', strcat('-', ''), strcat('+', '+'))", "a++b"],
    ["replace_strings('cat dog', dynamic(['cat', 'dog']), dynamic(['dog', 'bird']))", "dog bird"],
    ["replace_strings('a.b', dynamic(['.', '']), dynamic(['', 'x']))", "ab"],
    ["replace_strings('', dynamic(['a']), dynamic(['b']))", ""],
    ["translate('abc', 'xy', 'aabbccd')", "xxyyyyd"],
    ["translate('-_', '', 'a-b_c')", "abc"],
    ["translate('', 'x', 'abc')", "abc"],
  ]));

test("texts compare by code points", () =>
  expectValues([
    ["strcmp('a', 'b')", -1],
    ["strcmp('b', 'B')", 1],
    ["strcmp('', '')", 0],
    ["strcmp('z', 'é')", -1],
  ]));

test("empty is the empty text, and null in any other type", () =>
  expectValues([
    ["isempty('')", true],
    ["isempty(' ')", false],
    ["isempty(int(null))", true],
    ["isempty(0)", false],
    ["isempty(dynamic(null))", true],
    ["isempty(dynamic(''))", true],
    ["isempty(dynamic([]))", false],
    ["isnotempty(datetime(null))", false],
    ["isnotempty(guid(null))", false],
    ["isnotempty('x')", true],
    ["notempty(1d)", true],
  ]));

test("what would not be honoured is refused", () => {
  const complaint = complaintAbout("print replace_strings('a', dynamic(['a', 'b']), dynamic(['x']))");
  expect(complaint?.message).toContain("as many");
  expect(complaintAbout("print x = 'a' | extend y = translate(x, 'b', 'c')")?.message).toContain("constant");
});
