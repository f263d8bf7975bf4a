import { kqlCapabilities } from "../../../query/index.ts";
import { DRAWN_SERIES } from "./drawn-series.ts";
import { EXPLAINED_DIFFERENCES } from "./explained-differences.ts";
import { isInScope, type Measured } from "./measure-answers.ts";

/** Of a collection of texts, how many compile. */
interface Compiling {
  readonly what: string;
  readonly texts: number;
  readonly compiling: number;
}

/** The text of docs/kql-conformance.md: how answers compare with those that the real engine gave, and what differs. */
export function conformancePage(measured: readonly Measured[], compiling: readonly Compiling[]): string {
  const inScope = measured.filter(({ query }) => isInScope(query));
  const { operators, functions } = kqlCapabilities();
  const differing = inScope.filter(({ outcome }) => outcome === "differs");
  const reasons = grouped(
    differing.map(({ query }) => EXPLAINED_DIFFERENCES.get(query.id) ?? "not explained"),
  );
  const refusals = grouped(inScope.filter(({ outcome }) => outcome === "refused").map(({ why }) => why));
  return [
    "# KQL: how the answers compare with Kusto's",
    "",
    "Made by `RECORD=1 bun test test/query/conformance`, which runs every query that has a recorded answer of the real engine",
    "and compares names of columns, types and values. The recorded answers are no part of a clone; without them this page is not",
    "checked. What is supported, and where it is approximate, says [kql.md](kql.md). Where the engine drew a series by lot and",
    `recorded it, what is computed of that very series is compared: ${DRAWN_SERIES.size} of the queries.`,
    "",
    "| what | queries | agree | refused by name | differ |",
    "|---|---|---|---|---|",
    `| in scope | ${counts(inScope)} |`,
    `| out of scope (geography, graphs, state machines, other plugins, \`series_*\`) | ${counts(measured.filter(({ query }) => !isInScope(query)))} |`,
    "",
    "| texts of people | texts | compile |",
    "|---|---|---|",
    ...compiling.map(({ what, texts, compiling: ok }) => `| ${what} | ${texts} | ${percent(ok, texts)} |`),
    "",
    "## What differs, and why",
    "",
    ...(reasons.length === 0 ? ["Nothing."] : reasons.map(([reason, count]) => `- ${count}: ${reason}`)),
    "",
    "## What is refused",
    "",
    ...refusals.map(([reason, count]) => `- ${count}: ${reason}`),
    "",
    "## By operator",
    "",
    ...table(
      "operator",
      operators.map(({ name }) => name),
      inScope,
      operatorsIn,
    ),
    "",
    "## By function",
    "",
    ...table(
      "function",
      functions.map(({ name }) => name),
      inScope,
      functionsIn,
    ),
    "",
  ].join("\n");
}

function counts(measured: readonly Measured[]): string {
  const of = (outcome: Measured["outcome"]): number =>
    measured.filter((one) => one.outcome === outcome).length;
  const share = percent(of("agrees"), measured.length);
  return `${measured.length} | ${of("agrees")} (${share}) | ${of("refused")} | ${of("differs")}`;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`;
}

/** The most frequent first. */
function grouped(texts: readonly string[]): [string, number][] {
  const counted = new Map<string, number>();
  for (const text of texts) counted.set(text, (counted.get(text) ?? 0) + 1);
  return [...counted].sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1));
}

function table(
  head: string,
  names: readonly string[],
  measured: readonly Measured[],
  namesIn: (text: string) => ReadonlySet<string>,
): string[] {
  const using = measured.map((one) => ({ one, names: namesIn(one.query.text) }));
  const rows = [...new Set(names)].sort().flatMap((name) => {
    const of = using.filter(({ names: used }) => used.has(name)).map(({ one }) => one);
    return of.length === 0 ? [] : [`| \`${name.replaceAll("|", "\\|")}\` | ${counts(of)} |`];
  });
  return [`| ${head} | queries | agree | refused | differ |`, "|---|---|---|---|---|", ...rows];
}

const TEXT_OR_COMMENT = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/[^\n]*/g;

/** Names behind a pipe, and at the start of the text or a bracket. */
function operatorsIn(text: string): ReadonlySet<string> {
  const plain = text.replace(TEXT_OR_COMMENT, '""');
  return new Set([...plain.matchAll(/(?:^|[|(;=])\s*([a-z][a-z-]*)/gm)].map(([, name = ""]) => name));
}

function functionsIn(text: string): ReadonlySet<string> {
  const plain = text.replace(TEXT_OR_COMMENT, '""');
  return new Set([...plain.matchAll(/\b([a-z_]\w*)\s*\(/gi)].map(([, name = ""]) => name));
}
