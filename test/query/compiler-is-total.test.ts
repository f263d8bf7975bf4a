import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import {
  ALL_TIME,
  compileKql,
  type Diagnostic,
  emit,
  guardPlan,
  INTERACTIVE_BUDGET,
} from "../../query/index.ts";
import { mutants, OWN_TEXTS } from "./query-mutants.ts";

const NOW_NS = 1_750_000_000_000_000_000n;
const SCOPE = { organizationId: 7, timeRange: ALL_TIME, maxRows: 10, budget: INTERACTIVE_BUDGET };

/** Tables that one query may name: each unknown one is taken for the logs. */
const TABLES_MAX_COUNT = 20;

/** Whatever the text is, it becomes statements or is refused with a place inside of it. */
function check(text: string): void {
  const tables = new Map([["logs", "logs" as const]]);
  for (let i = 0; i < TABLES_MAX_COUNT; i++) {
    const compiled = compileKql(text, { nowNs: NOW_NS, tables });
    if (compiled.ok || compiled.discovery !== null) {
      const made = compiled.ok ? [compiled.query.relation, ...compiled.query.others] : [compiled.discovery];
      for (const relation of made) if (relation !== null) emit(guardPlan(relation, SCOPE));
      return;
    }
    const [first] = compiled.diagnostics;
    if (first === undefined) throw new Error("refused without a reason");
    expect(first.span.start).toBeLessThanOrEqual(first.span.end);
    expect(first.span.end).toBeLessThanOrEqual(text.length);
    if (first.code !== "UNKNOWN_TABLE" || tables.has(first.text)) return;
    tables.set(first.text, "logs");
  }
}

function refusal(text: string): Pick<Diagnostic, "text" | "suggestion"> & { code: string } {
  const compiled = compileKql(text, { nowNs: NOW_NS });
  if (compiled.ok) throw new Error(`not refused: ${text}`);
  const [{ code, text: place, suggestion } = { code: "SYNTAX", text: "", suggestion: null }] =
    compiled.diagnostics;
  return { code, text: place, suggestion };
}

const CORPUS = join(import.meta.dir, "syntax/corpus");

describe("a compilation", () => {
  test("of a query makes statements or says what is wrong, with every operator there is", () => {
    for (const text of OWN_TEXTS) check(text);
  });

  test("of a query that once made it throw does so as well", () => {
    for (const name of readdirSync(CORPUS)) check(readFileSync(join(CORPUS, name), "utf8"));
  });

  test("of a query with tokens of others in it does so as well", () => {
    fc.assert(fc.property(mutants, check), { numRuns: 1000 });
  });

  test.each([
    ["logs | summarize count by service", "count", "count()"],
    ["logs | summarize message", "message", "take_any(message)"],
    ["logs | summarize service by service", "service", "take_any(service)"],
    ["logs | summarize x = strcat(message, count()) by service", "message", "take_any(message)"],
    ["logs | summarize n = count() + attrs['a']", "attrs", "take_any(attrs)"],
    ["logs | summarize ['a b'], count()", "['a b']", "take_any(['a b'])"],
    ["logs | summarize pack_all()", "pack_all()", null],
    ["logs | sort by ts asc | summarize row_number()", "row_number()", null],
    ["let f = (x: string) { x }; logs | summarize f(message)", "f(message)", null],
    ["logs | top-nested 1 of service by message", "message", "take_any(message)"],
    ["logs | make-series message on ts from ago(1d) to now() step 1h", "message", "take_any(message)"],
    ["logs | make-series count() on ts from datetime(2020-01-01) to 5 step 1d", "5", "now()"],
    ["logs | make-series count() on ts from 'a' to now() step 1d", "'a'", "ago(1d)"],
    ["logs | make-series count() on ts from ago(1d) to now() step 2", "2", "1h"],
    ["logs | make-series count() on strlen(message) from 1 to now() step 2", "now()", null],
    ["logs | make-series count() on message from 1 to 5 step 1", "message", null],
  ])(
    "refuses at its place what reads one row of many, and ends of a series of another kind: %s",
    (text, place, suggestion) => {
      expect(refusal(text)).toEqual({ code: "WRONG_TYPE", text: place, suggestion });
    },
  );
});

describe("a value of a row", () => {
  test.each([
    "let f = (s: string) { toscalar(logs | where message == s | count) }; logs | extend n = f(service)",
    "let f = (s: string) { service in ((logs | where message == s | project host)) }; logs | where f(service)",
    "let f = (s: string) { let t = print r = s; 5 }; logs | extend n = f(service)",
  ])("is refused where a table within a function would take it for one of its own rows: %s", (text) => {
    expect(refusal(text)).toEqual({ code: "NOT_A_CONSTANT", text: "s", suggestion: null });
  });

  test.each([
    "let f = (s: string) { let a = tolower(s); strcat(a, s) }; logs | extend n = f(service)",
    "let f = (s: string) { toscalar(logs | where message == s | count) }; logs | extend n = f('a')",
    "let f = (x: long) { x + row_number() }; logs | sort by ts asc | extend n = f(prev(id))",
  ])("may be an argument of a function otherwise: %s", (text) => {
    expect(compileKql(text, { nowNs: NOW_NS }).ok).toBe(true);
  });
});

describe("a value of the rows around", () => {
  test.each([
    "extend n = prev(id)",
    "project n = prev(id)",
    "where prev(id) > 1",
    "distinct prev(host)",
    "top 5 by prev(id)",
    "sort by prev(id)",
  ])("stands in %s", (operator) => {
    expect(compileKql(`logs | sort by ts asc | ${operator}`, { nowNs: NOW_NS }).ok).toBe(true);
  });

  test.each([
    "summarize max(prev(id))",
    "summarize count() by prev(id)",
    "make-series max(prev(id)) on ts from ago(1d) to now() step 1h",
    "top-nested 2 of service by max(prev(id))",
    "mv-expand x = pack_array(prev(id))",
    "parse tostring(prev(id)) with a:long",
    "evaluate pivot(prev(id))",
    "top-hitters 2 of host by prev(id)",
    "search prev(id) > 5",
  ])("is refused with advice in %s", (operator) => {
    expect(refusal(`logs | sort by ts asc | ${operator}`)).toEqual({
      code: "WRONG_TYPE",
      text: "prev(id)",
      suggestion: null,
    });
  });
});

describe("tables that a query reads", () => {
  const mentions = (count: number, name: string, separator: string) =>
    Array(count).fill(name).join(separator);

  test("are 32 at most, however they are mentioned", () => {
    for (const text of [
      `let T = logs; union ${mentions(32, "T", ",")} | count`,
      `let T = (union logs, logs); union ${mentions(16, "T", ",")} | count`,
      `let n = toscalar(logs | count); print ${mentions(32, "n", "+")}`,
      `let f = (t: (*)) { union t, t }; union (logs | invoke f()), ${mentions(30, "logs", ",")} | count`,
      `let Unread = (union logs, logs); union ${mentions(32, "logs", ",")} | count`,
    ])
      expect(compileKql(text, { nowNs: NOW_NS }).ok).toBe(true);
  });

  test.each([
    ["a name", `let T = logs; union ${mentions(900, "T", ",")} | count`, "T"],
    ["the table", `union ${mentions(33, "logs", ",")} | count`, "logs"],
    [
      "a name of two tables",
      `let T = (union logs, logs); union ${mentions(16, "T", ",")}, logs | count`,
      "logs",
    ],
    ["what as names", `logs | as A | union ${mentions(32, "A", ",")} | count`, "A"],
    ["a value of a table", `let n = toscalar(logs | count); print ${mentions(33, "n", "+")}`, "n"],
    ["a parameter", `let f = (t: (*)) { union ${mentions(33, "t", ",")} }; f(logs) | count`, "t"],
    [
      "values that double",
      `let a0 = toscalar(logs | count); ${Array.from({ length: 30 }, (_, i) => `let a${i + 1} = a${i} + a${i};`).join(" ")} print a30`,
      "a5",
    ],
  ])("beyond that are refused at the mention that goes too far: of %s", (_, text, place) => {
    expect(refusal(text)).toEqual({ code: "TOO_COMPLEX", text: place, suggestion: null });
  });

  test("count for an operator that reads its input several times", () => {
    const levels = mentions(33, "top-nested 1 of service by count()", ", ").slice("top-nested ".length);
    expect(refusal(`logs | top-nested ${levels}`).code).toBe("TOO_COMPLEX");
  });

  test("are not the only thing that grows: a value mentioned in values that are mentioned is counted each time", () => {
    const doubling = Array.from({ length: 30 }, (_, i) => `let a${i + 1} = strcat(a${i}, a${i});`).join(" ");
    expect(refusal(`let a0 = tostring(now()); ${doubling} print a30`).code).toBe("TOO_COMPLEX");
  });
});
