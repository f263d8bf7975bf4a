import { literalPattern, type MadeSpan, wholePattern } from "../../../query/index.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { readRows, textsOfParameter, textsParameter } from "./read-rows.ts";
import { SPAN, spanParameters } from "./stored-entries.ts";

/** What is looked for in one text of every entry. */
export interface Wanted {
  /** A column of `TOLD_COLUMNS`, or an attribute. */
  readonly of: { readonly column: string } | { readonly attribute: string };
  /** What it may hold, its ASCII letters in lower case. */
  readonly literals: readonly string[];
  /** What it may be. */
  readonly texts: readonly string[];
}

/** What the entries of an organisation have of something wanted. */
export interface Had {
  readonly literals: ReadonlySet<string>;
  readonly texts: ReadonlySet<string>;
}

/** The texts of columns, as the store reads them. */
export const TOLD_COLUMNS: ReadonlyMap<string, string> = new Map([
  ["message", "message"],
  ["level", "toString(level)"],
  ["service", "service"],
  ["host", "host"],
  ["source", "source"],
]);

/**
 * Which of what is wanted the entries of a span have, by organisation and in the order of `wanted`: one pass over the entries, whatever
 * is wanted and whoever wants it.
 */
export async function contentsOf(
  endpoint: ClickHouseEndpoint,
  span: MadeSpan,
  wanted: readonly Wanted[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, readonly Had[]>> {
  const parameters = new Map(Object.entries(spanParameters(span)));
  const texts = (name: string, values: readonly string[]): string => {
    parameters.set(name, textsParameter(values));
    return textsOfParameter(name);
  };
  const found = (text: string, patterns: string): string =>
    `groupUniqArrayArray(multiMatchAllIndices(${text}, ${patterns}))`;
  const columns = wanted.flatMap(({ of, ...each }, i) => {
    const text =
      "column" in of ? TOLD_COLUMNS.get(of.column) : `attrs[${texts(`key${i}`, [of.attribute])}[1]]`;
    if (text === undefined) throw new TypeError("a column of which nothing is told");
    const { length: literals } = each.literals;
    const { length: whole } = each.texts;
    return [
      literals === 0
        ? "[]"
        : found(`lower(${text})`, texts(`literals${i}`, each.literals.map(literalPattern))),
      whole === 0 ? "[]" : found(text, texts(`texts${i}`, each.texts.map(wholePattern))),
    ];
  });
  const sql = `SELECT organization_id, ${columns.join(", ")} FROM logs WHERE ${SPAN} GROUP BY organization_id`;
  const rows = await readRows(endpoint, sql, Object.fromEntries(parameters), signal);
  return new Map(
    rows.map(([organization, ...cells]) => [
      Number(organization),
      wanted.map((each, i) => ({
        literals: namedBy(cells[2 * i], each.literals),
        texts: namedBy(cells[2 * i + 1], each.texts),
      })),
    ]),
  );
}

/** What numbers from 1 on stand for. */
function namedBy(numbers: unknown, names: readonly string[]): ReadonlySet<string> {
  return new Set(Array.isArray(numbers) ? numbers.map((number) => names[Number(number) - 1] ?? "") : []);
}
