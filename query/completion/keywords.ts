import { STRING_OPERATORS } from "../syntax/tree.ts";

/** Words between the operands of an operator, in the order in which they come. */
export const CLAUSES: Readonly<Record<string, readonly string[]>> = {
  summarize: ["by"],
  sort: ["by"],
  order: ["by"],
  top: ["by"],
  "top-nested": ["of", "with others =", "by"],
  "top-hitters": ["of", "by"],
  "sample-distinct": ["of"],
  join: ["on"],
  lookup: ["on"],
  range: ["from", "to", "step"],
  parse: ["with"],
  "parse-where": ["with"],
  "parse-kv": ["as", "with"],
  "mv-expand": ["to typeof(", "limit"],
  "mv-apply": ["to typeof(", "limit", "on"],
  "make-series": ["default =", "on", "from", "to", "step", "by"],
  facet: ["by", "with"],
  reduce: ["by", "with"],
  render: ["with"],
  count: ["as"],
};

/** The operators whose first word is that of a clause. */
export const CLAUSE_FIRST: ReadonlySet<string> = new Set(["sort", "order", "facet", "reduce", "count"]);

export const KINDS: Readonly<Record<string, readonly string[]>> = {
  join: [
    "inner",
    "innerunique",
    "leftouter",
    "rightouter",
    "fullouter",
    "leftsemi",
    "rightsemi",
    "leftanti",
    "rightanti",
  ],
  lookup: ["leftouter", "inner"],
  union: ["outer", "inner"],
  parse: ["simple", "regex", "relaxed"],
  "parse-where": ["simple", "regex", "relaxed"],
  "mv-expand": ["bag", "array"],
  search: ["case_insensitive", "case_sensitive"],
  reduce: ["source"],
};

export const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  join: ["kind="],
  lookup: ["kind="],
  union: ["kind=", "withsource="],
  parse: ["kind="],
  "parse-where": ["kind="],
  "mv-expand": ["kind=", "with_itemindex="],
  "mv-apply": ["with_itemindex="],
  search: ["kind=", "in"],
};

export const CHARTS: readonly string[] = [
  ...[
    "timechart",
    "barchart",
    "columnchart",
    "linechart",
    "areachart",
    "stackedareachart",
    "piechart",
    "scatterchart",
  ],
  ...["anomalychart", "card", "table"],
];
export const CHART_PROPERTIES: readonly string[] = [
  ...[
    "title",
    "kind",
    "xcolumn",
    "ycolumns",
    "series",
    "xtitle",
    "ytitle",
    "xaxis",
    "yaxis",
    "legend",
    "ymin",
    "ymax",
  ],
];

export const TYPES: readonly string[] = [
  ...["string", "long", "int", "real", "bool", "datetime", "timespan", "dynamic", "guid", "decimal"],
];

export const COMPARISONS: readonly string[] = [
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "in",
  "!in",
  "between",
  "!between",
];
export const TEXT_COMPARISONS: readonly string[] = [
  ...["==", "!=", "=~", "!~", "in", "!in", "in~", "!in~", "has_any", "has_all"],
  ...STRING_OPERATORS.filter((name) => !name.includes("like")),
];
/** Between two conditions. */
export const JUNCTIONS: readonly string[] = ["and", "or"];

/** Words behind which a value comes. */
export const VALUE_FOLLOWS: ReadonlySet<string> = new Set([
  ...TEXT_COMPARISONS,
  ...COMPARISONS,
  ...JUNCTIONS,
  ...["by", "on", "of", "with", "from", "to", "step", "limit", "default", "as", "regex", "kind", "matches"],
]);
