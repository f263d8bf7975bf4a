import { type Logsource, placesOf } from "./fields.ts";
import { quoted } from "./kql-text.ts";
import { plainTextOf, type TextPattern } from "./text-pattern.ts";
import type { SigmaTest, SigmaTree } from "./tree.ts";

/** The condition in KQL that holds of the same entries. */
export function kqlOf(tree: SigmaTree, logsource: Logsource): string {
  if (tree.kind === "not") return `not(${kqlOf(tree.part, logsource)})`;
  if (tree.kind === "test") return testOf(tree, logsource);
  if (tree.kind === "all") return `(${tree.parts.map((part) => kqlOf(part, logsource)).join(" and ")})`;
  const { lists, others } = listsOf(tree.parts);
  const parts = [
    ...lists.map(([field, texts]) => listOf(field, texts, logsource)),
    ...others.map((part) => kqlOf(part, logsource)),
  ];
  return parts.length === 1 ? parts.join() : `(${parts.join(" or ")})`;
}

/** Texts that a field may be, whatever their case, by the field: they are one list. */
function listsOf(parts: readonly SigmaTree[]): {
  readonly lists: readonly (readonly [string, readonly string[]])[];
  readonly others: readonly SigmaTree[];
} {
  const lists = new Map<string, string[]>();
  const others: SigmaTree[] = [];
  for (const part of parts) {
    const text = plainTextOfTest(part);
    if (part.kind !== "test" || part.field === null || text === null) others.push(part);
    else lists.set(part.field, [...(lists.get(part.field) ?? []), text]);
  }
  return { lists: [...lists], others };
}

function plainTextOfTest(tree: SigmaTree): string | null {
  if (tree.kind !== "test" || tree.question.kind !== "text" || tree.question.isCased) return null;
  const text = plainTextOf(tree.question.pattern);
  return text === "" ? null : text;
}

function listOf(field: string, texts: readonly string[], logsource: Logsource): string {
  const [only] = texts;
  // Of digits alone there is no other case, and what is equal is found faster.
  const isExact = texts.every((text) => /^[0-9]+$/.test(text));
  const list = `(${texts.map(quoted).join(", ")})`;
  const condition =
    texts.length === 1 && only !== undefined
      ? `${isExact ? "==" : "=~"} ${quoted(only)}`
      : `${isExact ? "in" : "in~"} ${list}`;
  return anyOf(placesOf(field, logsource).map((place) => `tostring(${place}) ${condition}`));
}

function anyOf(tests: readonly string[]): string {
  return tests.length === 1 ? tests.join() : `(${tests.join(" or ")})`;
}

function testOf(test: SigmaTest, logsource: Logsource): string {
  const { field, question } = test;
  if (field === null) return `* ${conditionOf(test)}`;
  const text = plainTextOfTest(test);
  if (text !== null) return listOf(field, [text], logsource);
  const places = placesOf(field, logsource);
  // Nothing is said only where nothing is said anywhere.
  if (question.kind === "text" && question.pattern.length === 0)
    return `(${places.map((place) => `isempty(${place})`).join(" and ")})`;
  return anyOf(places.map((place) => testAt(place, test, logsource)));
}

function testAt(place: string, test: SigmaTest, logsource: Logsource): string {
  const { question } = test;
  switch (question.kind) {
    case "exists":
      return `isnotempty(${place})`;
    case "order": {
      const operator = { lt: "<", lte: "<=", gt: ">", gte: ">=" }[question.order];
      return neverNull(`todouble(tostring(${place})) ${operator} ${question.number}`);
    }
    case "network":
      return neverNull(`ipv${question.version}_is_in_range(tostring(${place}), ${quoted(question.network)})`);
    case "field": {
      const operator = OPERATORS[question.relation][question.isCased ? "cased" : "any"];
      // Two fields that are not there have nothing in common.
      const pairs = placesOf(question.field, logsource).map(
        (other) => `isnotempty(${other}) and tostring(${place}) ${operator} tostring(${other})`,
      );
      return `(${pairs.join(" or ")})`;
    }
    default:
      if (question.kind === "text" && question.pattern.every(({ kind }) => kind === "many"))
        return `isnotempty(${place})`;
      return withLiteral(place, test);
  }
}

/** What is no number and no address is not less than any, and the opposite of that holds. */
function neverNull(condition: string): string {
  return `coalesce(${condition}, false)`;
}

/** A pattern is tried on what holds the longest text of it. */
function withLiteral(place: string, test: SigmaTest): string {
  const { question } = test;
  const condition = conditionOf(test);
  const read = condition.startsWith("=") ? `tostring(${place})` : place;
  if (question.kind !== "text" || !condition.startsWith("matches regex")) return `${read} ${condition}`;
  const texts = question.pattern.flatMap((piece) => (piece.kind === "text" ? [piece.text] : []));
  const longest = texts.reduce((most, text) => (text.length > most.length ? text : most), "");
  if (longest.length < LITERAL_MIN_CHARS) return `${read} ${condition}`;
  return `(${place} ${question.isCased ? "contains_cs" : "contains"} ${quoted(longest)} and ${read} ${condition})`;
}

/** Shorter texts narrow nothing. */
const LITERAL_MIN_CHARS = 3;

const OPERATORS = {
  equals: { any: "=~", cased: "==" },
  contains: { any: "contains", cased: "contains_cs" },
  startswith: { any: "startswith", cased: "startswith_cs" },
  endswith: { any: "endswith", cased: "endswith_cs" },
} as const;

/** An operator and its value. */
function conditionOf({ question }: SigmaTest): string {
  if (question.kind === "regex") {
    const flags = question.flags === "" ? "" : `(?${question.flags})`;
    return `matches regex ${quoted(flags + question.pattern)}`;
  }
  if (question.kind !== "text") throw new TypeError("a question that has no value of its own");
  const { pattern, isCased } = question;
  const first = pattern[0]?.kind === "many";
  const last = pattern.length > 1 && pattern.at(-1)?.kind === "many";
  const text = plainTextOf(pattern.slice(first ? 1 : 0, last ? -1 : undefined));
  if (text === null || text === "") return `matches regex ${quoted(regexOf(pattern, isCased))}`;
  const relation = first ? (last ? "contains" : "endswith") : last ? "startswith" : "equals";
  return `${OPERATORS[relation][isCased ? "cased" : "any"]} ${quoted(text)}`;
}

function regexOf(pattern: TextPattern, isCased: boolean): string {
  const parts = pattern.map((piece) => {
    if (piece.kind === "text") return piece.text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    return piece.kind === "many" ? ".*" : piece.kind === "one" ? "." : "[-/\u2013\u2014\u2015]";
  });
  return `${isCased ? "(?s)" : "(?is)"}^${parts.join("")}$`;
}
