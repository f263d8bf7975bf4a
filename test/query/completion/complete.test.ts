import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { completeKql } from "../../../query/complete-query.ts";
import { complete } from "../../../query/completion/complete.ts";
import type { CompletionVocabulary } from "../../../query/completion/vocabulary.ts";
import { workOf } from "../syntax/counted-work.ts";
import { queryTexts } from "../syntax/query-texts.ts";

const LOGS = [
  { name: "timestamp", type: "datetime" },
  { name: "level", type: "string" },
  { name: "message", type: "string" },
  { name: "status", type: "long" },
  { name: "attrs", type: "dynamic" },
];
const VOCABULARY: CompletionVocabulary = {
  columns: LOGS,
  tables: [
    { name: "logs", columns: LOGS },
    {
      name: "hosts",
      columns: [
        { name: "host", type: "string" },
        { name: "rack unit", type: "long" },
      ],
    },
  ],
  functions: ["strcat", "strlen", "bin", "ago", "iff"],
  aggregates: ["count", "countif", "sum", "dcount"],
  operators: [
    ...[
      "where",
      "extend",
      "project",
      "project-away",
      "summarize",
      "count",
      "take",
      "top",
      "sort",
      "join",
      "union",
    ],
    ...["render", "mv-apply", "parse", "print", "search", "facet", "make-series", "distinct"],
  ],
};

/** What is offered at `¦`. */
function at(marked: string): { labels: string[]; inserted: (label: string) => string } {
  const position = marked.indexOf("¦");
  const text = marked.replace("¦", "");
  const { items, replace } = complete(text, position, VOCABULARY);
  return {
    labels: items.map(({ label }) => label),
    inserted: (label) => {
      const item = items.find((candidate) => candidate.label === label);
      return text.slice(0, replace.start) + (item?.insert ?? "nothing") + text.slice(replace.end);
    },
  };
}

describe("operators", () => {
  test("are offered behind a pipe, and nothing else", () => {
    expect(at("logs | ¦").labels).toEqual([...VOCABULARY.operators]);
    expect(at("logs | where level == 'x'\n| ¦").labels).toContain("summarize");
    expect(at("| ¦").labels).toContain("where");
  });

  test("those that begin with what is typed come first, hyphens included", () => {
    expect(at("logs | su¦").labels[0]).toBe("summarize");
    expect(at("logs | project-a¦").labels).toEqual(["project-away"]);
    expect(at("logs | away¦").labels).toEqual(["project-away"]);
    expect(at("logs | project-a¦way x").inserted("project-away")).toBe("logs | project-away x");
    expect(at("logs | su¦ count()").inserted("summarize")).toBe("logs | summarize count()");
  });

  test("are offered inside the brackets that hold operators alone", () => {
    expect(at("logs | mv-apply x = attrs on (¦").labels).toContain("where");
    expect(at("logs | facet by level with (¦").labels).toContain("where");
  });
});

describe("the start of a query", () => {
  test("offers tables first, then what a condition begins with", () => {
    const { labels } = at("¦");
    expect(labels.slice(0, 2)).toEqual(["logs", "hosts"]);
    expect(labels).toEqual(expect.arrayContaining(["level", "strcat", "let", "where", "search"]));
    expect(at("lev¦").labels).toEqual(["level"]);
  });

  test("offers names of let behind their statement", () => {
    expect(at("let recent = logs | where timestamp > ago(1h); rec¦").labels).toEqual(["recent"]);
    expect(at("let a = 5; logs | where status > ¦").labels).toContain("a");
    expect(at("let a = ¦").labels).toContain("strcat");
  });

  test("of a query in brackets offers tables", () => {
    for (const text of [
      "logs | join (¦",
      "logs | join kind=inner (¦",
      "union (¦",
      "logs | where x in (¦",
      "toscalar(¦",
    ])
      expect(at(text).labels.slice(0, 2)).toEqual(["logs", "hosts"]);
  });
});

describe("values", () => {
  test("are columns and functions, a function with its bracket", () => {
    const { labels, inserted } = at("logs | where ¦");
    expect(labels).toEqual(expect.arrayContaining(["level", "strcat", "true"]));
    expect(labels).not.toContain("sum");
    expect(inserted("strlen")).toBe("logs | where strlen(");
    expect(at("logs | where strlen(¦").labels).toContain("message");
    expect(at("logs | extend x = st¦").labels).toEqual(["status", "strcat", "strlen", "timestamp"]);
  });

  test("of summarize are aggregates first, behind by they are not", () => {
    expect(at("logs | summarize ¦").labels.slice(0, 4)).toEqual(["count", "countif", "sum", "dcount"]);
    expect(at("logs | summarize count() by ¦").labels).not.toContain("sum");
    expect(at("logs | summarize count() by ¦").labels).toContain("level");
    expect(at("logs | summarize n = sum(¦").labels).toContain("status");
  });

  test("with names that need it are put in brackets and quotes", () => {
    expect(at("hosts | where ra¦").inserted("rack unit")).toBe("hosts | where ['rack unit']");
  });

  test("are those of the operators in front", () => {
    expect(at("logs | project level, n = status | where ¦").labels.slice(0, 2)).toEqual(["level", "n"]);
    expect(
      at(
        "logs | summarize hits = count(), dcount(message) by level, bin(timestamp, 1h) | where ¦",
      ).labels.slice(0, 4),
    ).toEqual(["level", "timestamp", "hits", "dcount_"]);
    expect(at("logs | project-away l*, *s | where ¦").labels.slice(0, 2)).toEqual(["timestamp", "message"]);
    expect(at("where level == 'x' | extend a = 1 | project ¦").labels).toContain("a");
    expect(at("hosts | where ¦").labels).not.toContain("level");
    expect(at("let t = logs | project level; t | where ¦").labels).not.toContain("message");
    expect(at("datatable(a: long, b: string)[] | where ¦").labels.slice(0, 2)).toEqual(["a", "b"]);
    expect(at("logs | join (hosts | extend x = 1 | where ¦").labels.slice(0, 3)).toEqual([
      "host",
      "rack unit",
      "x",
    ]);
    expect(at("logs | parse message with * 'took ' ms:long * | where ¦").labels).toContain("ms");
  });
});

describe("behind a value", () => {
  test("come the operators of its type, then and and or", () => {
    expect(at("logs | where message ¦").labels).toEqual(
      expect.arrayContaining(["has", "contains", "==", "and"]),
    );
    expect(at("logs | where status ¦").labels).not.toContain("has");
    expect(at("logs | where status ¦").labels).toContain(">=");
    expect(at("level ¦").labels).toContain("has");
    expect(at("logs | where level == 'x' ¦").labels).toEqual(["and", "or"]);
    expect(at("logs | where level == 'x' an¦").labels).toEqual(["and"]);
  });
});

describe("words between operands", () => {
  test.each([
    ["logs | sort ¦", ["by"]],
    ["logs | sort by level ¦", ["asc", "desc"]],
    ["logs | sort by level desc ¦", ["nulls first", "nulls last"]],
    ["logs | top 5 ¦", ["by"]],
    ["logs | summarize count() ¦", ["by"]],
    ["logs | join hosts ¦", ["on"]],
    ["logs | join kind=inner (hosts) ¦", ["on"]],
    ["logs | join kind=left¦", ["leftouter", "leftsemi", "leftanti"]],
    ["logs | join ¦", ["logs", "hosts", "kind="]],
    ["logs | join hosts on ¦", ["level", "$left", "$right"]],
    ["logs | join hosts on $left.¦", ["level"]],
    ["logs | join hosts on $left.level == $right.¦", ["host", "rack unit"]],
    ["logs | render ¦", ["timechart"]],
    ["logs | render timechart ¦", ["with"]],
    ["logs | render timechart with (¦", ["title"]],
    ["logs | mv-apply x = attrs ¦", ["to typeof(", "limit", "on"]],
    ["logs | mv-apply x = attrs to typeof(¦", ["long", "string"]],
    ["logs | make-series count() ¦", ["default =", "on"]],
    ["logs | parse message ¦", ["with"]],
    ["logs | parse message with 'a' x:¦", ["long"]],
    ["logs | count ¦", ["as"]],
    ["let f = (a: ¦", ["long"]],
  ])("%s", (text, expected) => {
    expect(at(text).labels).toEqual(expect.arrayContaining(expected));
  });
});

test("nothing is offered in a text, a number or a comment", () => {
  for (const text of [
    "logs | where level == 'er¦",
    "logs // where ¦",
    "logs | take 1¦",
    "logs | where attrs.¦",
  ])
    expect(at(text).labels).toEqual([]);
});

describe("the work grows with the length of the text", () => {
  const doubled = (count: number): string => {
    const names = Array.from(
      { length: count },
      (_, i) => `let t${i} = union t${i - 1}, t${i - 1}, t${i + 1}`,
    );
    return `${names.join(";")}; t${count - 1} | where `;
  };
  const wide = (count: number): string => {
    const columns = Array.from({ length: count }, (_, i) => `c${i} = 1`);
    return `let w = logs | extend ${columns.join(", ")}; union ${"w, ".repeat(count)}w | where `;
  };

  const cost = (text: string): number =>
    workOf(() => expect(complete(text, text.length, VOCABULARY).items.length).toBeGreaterThan(0));

  test.each([
    ["names that mean one another", doubled],
    ["many names of many columns", wide],
  ])("for %s", (_, textOf) => {
    // Four times the text: without bounds on what is followed it would be 16 times as much.
    expect(cost(textOf(5000)) / cost(textOf(1250))).toBeLessThan(8);
  });
});

test("at any place of any text the span lies around the position", () => {
  fc.assert(
    fc.property(queryTexts(), fc.nat(), (text, number) => {
      const position = number % (text.length + 1);
      const { items, replace } = complete(text, position, VOCABULARY);
      expect(replace.start).toBeLessThanOrEqual(position);
      expect(replace.end).toBeGreaterThanOrEqual(position);
      expect(replace.end).toBeLessThanOrEqual(text.length);
      expect(new Set(items.map(({ label }) => label)).size).toBe(items.length);
    }),
    { numRuns: 500 },
  );
});

describe("the tables that there are", () => {
  test("are offered with their own columns", () => {
    const labelsAt = (text: string): string[] =>
      completeKql(text, text.length, { attributes: [] }).items.map(({ label }) => label);
    expect(labelsAt("")).toEqual(expect.arrayContaining(["logs", "checks"]));
    expect(labelsAt("checks | where dur")).toContain("durationMs");
    expect(labelsAt("checks | where mess")).not.toContain("message");
    expect(labelsAt("logs | where mess")).toContain("message");
  });

  test("and what the organization keeps are offered as well", () => {
    const columns = [{ name: "owner", type: "string" as const }];
    const kept = {
      tables: new Map([["hosts", { rowsId: "1", columns }]]),
      functions: new Map([["fromOffice", { name: "fromOffice", parameters: "ip: string", body: "true" }]]),
    };
    const labelsAt = (text: string): string[] =>
      completeKql(text, text.length, { attributes: [], kept }).items.map(({ label }) => label);
    expect(labelsAt("logs | join kind=inner (ho")).toContain("hosts");
    expect(labelsAt("hosts | where ow")).toContain("owner");
    expect(labelsAt("logs | where fromO")).toContain("fromOffice");
  });
});
