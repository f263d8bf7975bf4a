/** What conditions reach, condition by condition. */
import { describe, expect, test } from "bun:test";
import {
  aggregate,
  aggregateCall,
  compileKql,
  filteredLogs,
  parseSearch,
  type Relation,
} from "../../../query/index.ts";
import { REACH_MAX_TESTS, reachOf } from "../../../query/reach/reach.ts";
import { whereOnly } from "../../../query/reach/where-only.ts";

const NOW_MS = Date.UTC(2026, 0, 2);
function relationOf(text: string): Relation {
  const compiled = compileKql(text, { nowNs: BigInt(NOW_MS) * 1_000_000n });
  if (!compiled.ok) throw new Error(`${text}: ${compiled.diagnostics[0]?.message}`);
  return compiled.query.relation;
}

function reachOfText(text: string) {
  const conditions = whereOnly(relationOf(text));
  if (conditions === null) throw new Error(`${text} is more than where`);
  return reachOf(conditions);
}

const message = (literal: string) => ({
  kind: "holds",
  subject: { kind: "column", name: "message" },
  literal,
});
const columnIs = (name: string, ...texts: string[]) => ({
  kind: "is",
  subject: { kind: "column", name },
  texts,
});
const there = (key: string) => ({ kind: "there", key });
const number = (conversion: string, path: string, ...numbers: number[]) => ({
  number: { read: { conversion, path: path.split(".") }, numbers },
});

describe("a reach", () => {
  test.each([
    ["message has 'Timeout'", [message("timeout")]],
    ["message contains_cs 'ConnÉct'", [message("connÉct")]],
    ["message contains 'straße am see'", [message("e am see")]],
    ["message has 'timeout' and service == 'api'", [message("timeout")]],
    ["message has 'out' and traceId == 'ab12'", [columnIs("traceId", "ab12")]],
    ["message has 'timeout' or message has 'refused'", [message("timeout"), message("refused")]],
    ["message has_any ('timeout', 'refused')", [message("timeout"), message("refused")]],
    ["message has_all ('timeout', 'io')", [message("timeout")]],
    ["service in ('api', 'web')", [columnIs("service", "api", "web")]],
    ["logs | where level == 'error' | where message has 'disk'", [message("disk")]],
    ["status >= 500", [there("status")]],
    ["tolong(status) == 401", [{ ...there("status"), ...number("tolong", "status", 401) }]],
    ["status in (401, 403.5)", [{ ...there("status"), ...number("toreal", "status", 401, 403.5) }]],
    ["status == 9007199254740993", [there("status")]],
    [
      "message has 'order' and http.status == 500",
      [{ ...message("order"), ...number("toreal", "http.status", 500) }],
    ],
    [
      "http.status == 500",
      [there("http.status"), there("http")].map((each) => ({
        ...each,
        ...number("toreal", "http.status", 500),
      })),
    ],
    ["message has 'order' and (n == 1 or n == 2)", [message("order")]],
    ["status == '401'", [{ kind: "is", subject: { kind: "attribute", key: "status" }, texts: ["401"] }]],
    [
      "user.name has 'root'",
      [{ kind: "holds", subject: { kind: "attribute", key: "user.name" }, literal: "root" }, there("user")],
    ],
    ["message has 'x' and false", []],
  ])("of %s", (text, tests) => {
    expect<unknown>(reachOfText(text)).toEqual(tests);
  });

  test.each([
    "message has 'io'",
    "message !has 'timeout'",
    "message != 'timeout'",
    "message matches regex 'time.*'",
    "isempty(user)",
    "user == ''",
    "status != 500",
    "iff(message has 'error', true, false)",
    "message has 'timeout' or level != 'info'",
    "* has 'timeout'",
    "s in~ (source)",
    "true",
  ])("is not there of %s", (text) => {
    expect(reachOfText(text)).toBeNull();
  });

  test("of a search is that of its words, and -word has none", () => {
    const ofSearch = (q: string, service: string | null = null) => {
      const parsed = parseSearch(q);
      if (!parsed.ok) throw parsed.error;
      const relation = filteredLogs({ search: parsed.condition, service, level: null });
      return reachOf(whereOnly(relation) ?? []);
    };
    expect<unknown>(ofSearch("disk full -test")).toEqual([message("disk")]);
    expect<unknown>(ofSearch('"disk full" OR oom')).toEqual([message("disk full"), message("oom")]);
    expect<unknown>(ofSearch("-test", "api")).toEqual([columnIs("service", "api")]);
    expect(ofSearch("-test")).toBeNull();
  });

  test("has a bound, beyond which there is none", () => {
    const anyOf = (n: number) => Array.from({ length: n }, (_, i) => `'word${i}'`).join(", ");
    expect(reachOfText(`message has_any (${anyOf(REACH_MAX_TESTS)})`)).toHaveLength(REACH_MAX_TESTS);
    expect(reachOfText(`message has_any (${anyOf(REACH_MAX_TESTS + 1)})`)).toBeNull();
    expect(reachOfText(`service in (${anyOf(1000)})`)).toHaveLength(1);
    const numbers = Array.from({ length: REACH_MAX_TESTS + 1 }, (_, i) => i).join(", ");
    expect<unknown>(reachOfText(`status in (${numbers})`)).toEqual([there("status")]);
  });
});

test("only where keeps entries as they are", () => {
  expect(whereOnly(relationOf("logs | where level == 'error' | take 5"))).toBeNull();
  const logs = relationOf("level == 'error'");
  expect(whereOnly(logs)).toHaveLength(1);
  expect(whereOnly(aggregate(logs, [], [aggregateCall("n", "count")]))).toBeNull();
});
