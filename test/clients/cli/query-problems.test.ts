import { expect, test } from "bun:test";
import { ApiError, refusal } from "../../../clients/api/errors.ts";
import { explainQueryProblems } from "../../../clients/cli/query/query-problems.ts";

function told(query: string, ...places: readonly object[]): string {
  const fields = places.map((place) => ({
    path: "/query",
    code: "custom",
    message: "no such thing",
    ...place,
  }));
  const text = JSON.stringify({ error: "The query is not valid.", code: "KQL_INVALID", fields });
  const error = explainQueryProblems(
    refusal({ status: 400, headers: new Headers(), text }, "http://server"),
    query,
  );
  return error instanceof Error ? error.message : String(error);
}

test("the line of the query is shown with carets under what is wrong, and the suggestion", () => {
  expect(told("logs\r\n| wher x", { line: 2, column: 3, text: "wher", suggestion: "where" })).toBe(
    ["KQL_INVALID: no such thing", "  2 | | wher x", "    |   ^^^^", "  instead: where"].join("\n"),
  );
});

test("a suggestion that the message makes already is not repeated", () => {
  const place = { message: "Did you mean where?", line: 1, column: 1, text: "wher", suggestion: "where" };
  expect(told("wher x", place)).toBe("KQL_INVALID: Did you mean where?\n  1 | wher x\n    | ^^^^");
});

test("carets stand right under wide characters, tabs and escaped controls", () => {
  expect(told('\tm == "日本" wher \u001b', { line: 1, column: 12, text: "wher" })).toBe(
    ["KQL_INVALID: no such thing", '  1 |  m == "日本" wher \\x1b', "    |              ^^^^"].join("\n"),
  );
  expect(told("\u0007 日本", { line: 1, column: 3, text: "日本" })).toContain(
    "\n  1 | \\x07 日本\n    |      ^^^^",
  );
});

test("something that is missing at the end is marked behind it", () => {
  expect(told("logs |", { line: 1, column: 7, text: "" })).toContain("\n  1 | logs |\n    |       ^");
});

test("a text over several lines is marked on its first", () => {
  expect(told("a (b\nc) d", { line: 1, column: 3, text: "(b\nc)" })).toContain("\n  1 | a (b\n    |   ^^");
});

test("of a very long line the part around the place is shown", () => {
  const [, line = "", carets = ""] = told(`${"a".repeat(5000)} wrong ${"b".repeat(5000)}`, {
    line: 1,
    column: 5002,
    text: "wrong",
  }).split("\n");
  expect(line.length).toBeLessThan(120);
  expect(line.slice(carets.indexOf("^"), carets.lastIndexOf("^") + 1)).toBe("wrong");
});

test("several problems are shown one below the other, up to five", () => {
  const text = told("x", ...Array.from({ length: 7 }, () => ({ line: 1, column: 1, text: "x" })));
  expect(text.split("no such thing")).toHaveLength(6);
  expect(text).toEndWith("\nand 2 more");
});

test("a place outside the query, and one that is no place, do no harm", () => {
  expect(told("x", { line: 9, column: 9, text: "y" })).toBe("KQL_INVALID: no such thing");
  expect(told("x", { line: 1, column: 99, text: "y" })).toContain("\n  1 | x\n    |  ^");
  expect(told("x", { line: "1" })).toContain("/query no such thing (KQL_INVALID, 400)");
});

test("nothing of the server's words commands a terminal", () => {
  const text = told("x", { message: "\u001b[2J", line: 1, column: 1, text: "\u009b", suggestion: "\u202e" });
  expect(text).toBe("KQL_INVALID: \\x1b[2J\n  1 | x\n    | ^\n  instead: \\u202e");
});

test("another error is not touched", () => {
  const other = new ApiError("no", { status: 403, code: "FORBIDDEN", fields: [] });
  expect(explainQueryProblems(other, "x")).toBe(other);
});
