type Support = "exact" | "approximate" | "rejected";

export interface OperatorCapability {
  readonly name: string;
  readonly support: Support;
  /** Where and why the answer can differ, or why there is none; null when there is nothing to say. */
  readonly note: string | null;
}

function exact(...names: readonly string[]): OperatorCapability[] {
  return names.map((name) => ({ name, support: "exact", note: null }));
}

function noted(
  support: "approximate" | "rejected",
  note: string,
  ...names: readonly string[]
): OperatorCapability[] {
  return names.map((name) => ({ name, support, note }));
}

/** Every tabular operator of the language, and the operators of expressions, by what becomes of them here. */
export const OPERATORS: readonly OperatorCapability[] = [
  ...exact(
    ..."as count datatable distinct extend facet filter getschema join let limit lookup make-series mv-apply mv-expand order parse parse-kv parse-where print project project-away project-keep project-rename project-reorder range render sample sample-distinct serialize sort summarize take top top-nested union where".split(
      " ",
    ),
  ),
  ...noted(
    "approximate",
    "A text's form is found by masking words with digits; Kusto mines patterns in a way that is not published.",
    "reduce",
  ),
  ...noted(
    "approximate",
    "The table is read wherever it is mentioned, so that sample and rand() inside it draw anew each time.",
    "materialize",
  ),
  ...noted(
    "approximate",
    "Calls functions of the query and of the organization; their other arguments are no columns of the table.",
    "invoke",
  ),
  ...noted(
    "approximate",
    "The plugins are bag_unpack, pivot, ipv4_lookup, autocluster, basket and diffpatterns; any other is refused. Which segments the last three choose is a matter of judgement, theirs and Kusto's.",
    "evaluate",
  ),
  ...noted(
    "approximate",
    "Reads CSV, TSV, lines of text and JSON over https, also packed with gzip, where EXTERNALDATA_HOSTS allows the host.",
    "externaldata",
  ),
  ...noted(
    "approximate",
    "A condition without `in (...)` looks in the logs alone; `search *` shows the rows of logs and checks; tables that are kept are searched where they are named. A real number is found by its text.",
    "search",
  ),
  ...noted("approximate", "Counts are exact here, estimates in Kusto.", "top-hitters"),
  ...noted("rejected", "A query answers one table; facet answers several.", "fork"),
  ...noted(
    "rejected",
    "State machines over rows are not supported; row_number(), prev() and row_cumsum() are.",
    "scan",
  ),
  ...noted("rejected", "Use summarize by the key, or top-nested.", "partition"),
  ...noted(
    "rejected",
    "Graphs are not supported.",
    "make-graph",
    "graph-match",
    "graph-shortest-paths",
    "graph-to-table",
    "graph-mark-components",
  ),
  ...noted("rejected", "A query reads the organization's own tables only.", "external_table"),
  ...noted("rejected", "search looks in every column.", "find"),
  ...noted(
    "rejected",
    "It does nothing for a query that answers rows.",
    "consume",
    "assert-schema",
    "execute-and-cache",
    "macro-expand",
  ),
  ...exact(
    ..."== != < <= > >= + - * / % and or not in !in in~ !in~ =~ !~ between !between has !has has_cs !has_cs has_any has_all hasprefix !hasprefix hasprefix_cs !hasprefix_cs hassuffix !hassuffix hassuffix_cs !hassuffix_cs contains !contains contains_cs !contains_cs startswith !startswith startswith_cs !startswith_cs endswith !endswith endswith_cs !endswith_cs :".split(
      " ",
    ),
  ),
  ...noted(
    "approximate",
    "RE2 reads the pattern; classes with && and --, and lookaround, are refused.",
    "matches regex",
  ),
];
