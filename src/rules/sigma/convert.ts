import { createHash } from "node:crypto";
import { mapInSlices } from "../../concurrency/thread-turns.ts";
import { ApiError } from "../../errors.ts";
import { compileEntryQuery } from "../../kql/issues.ts";
import type { Severity } from "../../problems/events.ts";
import { readCondition, type Selections } from "./condition.ts";
import type { ConvertedRule, Correlation, RuleText } from "./converted-rule.ts";
import { convertCorrelation } from "./correlation.ts";
import type { SigmaDocument } from "./documents.ts";
import { groupFieldOf, type Logsource, namesOf, sourceCondition } from "./fields.ts";
import {
  CONVERTED_KQL_MAX_CHARS,
  DESCRIPTION_MAX_CHARS,
  GROUPS_MAX_COUNT,
  IMPORT_MAX_DOCUMENTS,
  SELECTIONS_MAX_COUNT,
  TESTS_MAX_COUNT,
  TITLE_MAX_CHARS,
} from "./limits.ts";
import { type Place, type SigmaProblem, SigmaRefusal } from "./problem.ts";
import { readSelection } from "./selection.ts";
import { kqlOf } from "./to-kql.ts";
import { anyOfTrees, type SigmaTree, testsOf } from "./tree.ts";
import { requireMap, type SigmaMap, textIn, textsIn } from "./values.ts";
import { windowOf } from "./window.ts";

/** What a document became. `line`: of its beginning in the text, from 1. `part`: others are made of it, and it tells of nothing by itself. */
export type Converted =
  | { readonly title: string; readonly line: number; readonly made: ConvertedRule | Correlation | "part" }
  | { readonly title: string | null; readonly line: number; readonly problems: readonly SigmaProblem[] };

/** A rule and the names by which correlations refer to it. */
interface KnownRule {
  readonly rule: ConvertedRule;
  readonly logsource: Logsource;
  readonly names: readonly string[];
}

/**
 * What the documents of a text become, in their order: one that cannot be taken over says why and where, and keeps no other from it.
 * Of more documents than an import has the first ones, one more than it has. Source: Sigma specification 2, rules and correlation rules.
 */
export async function convertSigma(text: string): Promise<Converted[]> {
  // Loaded with the first import, with what reads YAML.
  const { readDocument, splitDocuments } = await import("./documents.ts");
  const known: KnownRule[] = [];
  const keys = new Set<string>();
  const documents = await mapInSlices(splitDocuments(text, IMPORT_MAX_DOCUMENTS), readDocument);
  const converted = await mapInSlices(documents, (document) =>
    attempt(document, (map) => {
      if (map.correlation !== undefined) return null;
      const logsource = readLogsource(map);
      const { rule, tree } = convertRule(map, logsource);
      return { rule, tree, logsource };
    }),
  );
  const asked = await mapInSlices(documents.entries(), ([i, document]) =>
    attempt(document, (map) => {
      const done = converted[i];
      if (done === null || done === undefined || "problems" in done) return done ?? null;
      const { rule, tree, logsource } = done;
      requireOwnKey(rule, map, keys);
      requireAskable(rule.kql, (at) => placeIn(rule.kql, at, tree, logsource));
      const names = [map.id, map.name].filter((name): name is string => typeof name === "string");
      known.push({ rule, logsource, names });
      return rule;
    }),
  );
  const used = new Set<ConvertedRule>();
  const whole = await mapInSlices(documents.entries(), ([i, document]) =>
    attempt(document, (map) => {
      const done = asked[i];
      if (done !== null && done !== undefined) return done;
      const made = convertCorrelation(map, textOfRule(map), (name, at) => {
        const found = known.find(({ names }) => names.includes(name));
        if (found === undefined)
          throw new SigmaRefusal(
            at,
            `names the rule \`${name}\`, which is not in the text or is refused itself.`,
          );
        return found;
      });
      const { correlation, uses, generates } = made;
      requireOwnKey(correlation, map, keys);
      for (const kql of conditionsOf(correlation)) requireAskable(kql, () => ["correlation", "rules"]);
      if (!generates) for (const rule of uses) used.add(rule);
      return correlation;
    }),
  );
  return documents.map((document, i): Converted => {
    const { line } = document;
    const title = document.map === null ? null : titleOf(document.map);
    const made = whole[i] ?? { problems: [] };
    if ("problems" in made) return { title, line, problems: made.problems };
    const isPart = made.kind === "log" && used.has(made);
    return { title: title ?? "", line, made: isPart ? "part" : made };
  });
}

/** What is made of a document, or why nothing is. */
function attempt<T>(
  document: SigmaDocument,
  convert: (map: SigmaMap) => T,
): T | { readonly problems: readonly SigmaProblem[] } {
  if (document.map === null) return { problems: document.problems };
  try {
    return convert(document.map);
  } catch (error) {
    if (!(error instanceof SigmaRefusal)) throw error;
    return { problems: [document.problemAt(error.place, error.message)] };
  }
}

/** Imported again, a rule is known by its key. Throws SigmaRefusal. */
function requireOwnKey({ key }: RuleText, { id }: SigmaMap, keys: Set<string>): void {
  const isGiven = id !== undefined && id !== null;
  if (keys.has(key))
    throw new SigmaRefusal([isGiven ? "id" : "title"], "is that of another document before it.");
  keys.add(key);
}

/**
 * `placeOf`: where the rule asks what stands so far into the condition. What is made here are conditions on entries, and names no present,
 * so that compiling it tells all. Throws SigmaRefusal.
 */
function requireAskable(kql: string, placeOf: (at: number) => Place): void {
  try {
    compileEntryQuery(kql, 0);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [issue] = error.fields ?? [];
    const at = issue !== undefined && "start" in issue && typeof issue.start === "number" ? issue.start : 0;
    throw new SigmaRefusal(placeOf(at), `becomes KQL that is refused: ${issue?.message ?? error.message}`);
  }
}

/** The test whose condition stands there; the whole detection where it is that of several. */
function placeIn(kql: string, at: number, tree: SigmaTree, logsource: Logsource): Place {
  const test = testsOf(tree).find((each) => {
    const own = kqlOf(each, logsource);
    const from = kql.lastIndexOf(own, at);
    return from !== -1 && at < from + own.length;
  });
  return test?.place ?? ["detection"];
}

/** The conditions that a rule asks. */
export function conditionsOf(made: ConvertedRule | Correlation): readonly string[] {
  if (made.kind === "log") return [made.kql];
  return made.matchKql === null ? made.steps : [made.matchKql];
}

function titleOf({ title }: SigmaMap): string | null {
  return typeof title === "string" ? title : null;
}

function convertRule(
  map: SigmaMap,
  logsource: Logsource,
): { readonly rule: ConvertedRule; readonly tree: SigmaTree } {
  const detection = requireMap(map.detection, ["detection"]);
  const { tree, counting } = readDetection(detection);
  const source = sourceCondition(logsource);
  const kql = [...(source === null ? [] : [source]), kqlOf(tree, logsource)].join(" and ");
  if (kql.length > CONVERTED_KQL_MAX_CHARS)
    throw new SigmaRefusal(
      ["detection"],
      `becomes ${kql.length} characters of KQL, more than ${CONVERTED_KQL_MAX_CHARS}.`,
    );
  const names = testsOf(tree).flatMap(({ field }) => (field === null ? [] : [field]));
  const rule: ConvertedRule = {
    ...{ kind: "log", ...textOfRule(map), kql },
    threshold: counting?.threshold ?? 1,
    windowSec: windowOf(textIn(detection, "timeframe", ["detection"]), ["detection", "timeframe"]),
    groupBy: (counting?.groupBy ?? []).map((field) => groupFieldOf(field, logsource)),
    fields: new Map(names.map((name) => [name, namesOf(name, logsource.product, logsource.category)])),
  };
  return { rule, tree };
}

interface Counting {
  readonly threshold: number;
  readonly groupBy: readonly string[];
}

function readDetection(detection: SigmaMap): {
  readonly tree: SigmaTree;
  readonly counting: Counting | null;
} {
  const at = ["detection", "condition"];
  const { condition } = detection;
  const texts = textsIn(detection, "condition");
  if (texts.length === 0)
    throw new SigmaRefusal(condition === undefined ? ["detection"] : at, "has no condition.");
  const names = Object.keys(detection).filter((name) => name !== "condition" && name !== "timeframe");
  if (names.length > SELECTIONS_MAX_COUNT)
    throw new SigmaRefusal(["detection"], `has more than ${SELECTIONS_MAX_COUNT} selections.`);
  const selections: Selections = new Map(
    names.map((name) => {
      const tree = readSelection(detection[name], ["detection", name]);
      return [name, { tree, tests: testsOf(tree).length }];
    }),
  );
  let tests = 0;
  const parts = texts.map((text, i) => {
    const place = Array.isArray(condition) ? [...at, i] : at;
    const [asked = "", ...counted] = text.split("|");
    if (counted.length > 1) throw new SigmaRefusal(place, "counts more than once.");
    const [count] = counted;
    const read = readCondition(asked, selections, place);
    tests += read.tests;
    if (tests > TESTS_MAX_COUNT)
      throw new SigmaRefusal(place, `asks for more than ${TESTS_MAX_COUNT} values.`);
    return {
      tree: read.tree,
      counting: count === undefined ? null : readCounting(count, place),
    };
  });
  const [first, ...others] = parts;
  if (others.length > 0 && parts.some(({ counting }) => counting !== null))
    throw new SigmaRefusal(at, "counts in one of several conditions.");
  return { tree: anyOfTrees(parts.map(({ tree }) => tree)), counting: first?.counting ?? null };
}

const COUNT = /^\s*count\(\s*\)\s*(?:by\s+([^\s,]+(?:\s*,\s*[^\s,]+)*)\s*)?(>=?)\s*(\d{1,7})\s*$/;

/** What used to stand behind the condition of a rule. Source: Sigma specification 1, "Aggregations". */
function readCounting(text: string, at: Place): Counting {
  const [whole, by = "", operator = "", number = ""] = COUNT.exec(text) ?? [];
  if (whole === undefined)
    throw new SigmaRefusal(at, `counts with \`${text.trim()}\`; only \`count() by field > 5\` can be told.`);
  const groupBy = by === "" ? [] : by.split(",").map((field) => field.trim());
  if (groupBy.length > GROUPS_MAX_COUNT)
    throw new SigmaRefusal(at, `groups by more than ${GROUPS_MAX_COUNT} fields.`);
  return { threshold: Math.max(1, Number(number) + (operator === ">" ? 1 : 0)), groupBy };
}

function readLogsource(map: SigmaMap): Logsource {
  const logsource = requireMap(map.logsource, ["logsource"]);
  const text = (name: string): string | null => textIn(logsource, name, ["logsource"])?.toLowerCase() ?? null;
  const read = { product: text("product"), category: text("category"), service: text("service") };
  if (Object.values(read).every((each) => each === null))
    throw new SigmaRefusal(["logsource"], "names no product, category or service.");
  return read;
}

const LEVELS: Readonly<Record<string, Severity>> = {
  informational: "low",
  low: "low",
  medium: "medium",
  high: "high",
  critical: "critical",
};

function textOfRule(map: SigmaMap): RuleText {
  const title = textIn(map, "title");
  if (title === null || title.trim() === "") throw new SigmaRefusal([], "has no title.");
  const level = textIn(map, "level")?.toLowerCase() ?? "medium";
  const severity = LEVELS[level];
  if (severity === undefined) throw new SigmaRefusal(["level"], "is none that there is.");
  const id = textIn(map, "id") ?? title;
  const technique = textsIn(map, "tags")
    .map((tag) => /^attack\.(t\d{4}(?:\.\d{3})?)$/i.exec(tag)?.[1])
    .find((each) => each !== undefined);
  return {
    key: `sigma:${/^[\w-]{1,50}$/.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 40)}`,
    name: [...title.trim()].slice(0, TITLE_MAX_CHARS).join(""),
    description: descriptionOf(map),
    severity,
    attackTechnique: technique?.toUpperCase() ?? null,
  };
}

/** What whoever is told of it needs to judge it. */
function descriptionOf(map: SigmaMap): string | null {
  const lists = [
    ["False positives: ", textsIn(map, "falsepositives")],
    ["References: ", textsIn(map, "references")],
    ["Author: ", textsIn(map, "author")],
    ["License: ", textsIn(map, "license")],
  ] as const;
  const said = lists.flatMap(([name, texts]) => (texts.length === 0 ? [] : [`${name}${texts.join("; ")}`]));
  const whole = [textIn(map, "description")?.trim() ?? "", ...said].filter((each) => each !== "").join("\n");
  return whole === "" ? null : [...whole].slice(0, DESCRIPTION_MAX_CHARS).join("");
}
