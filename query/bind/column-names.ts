import type { Argument, Expression, Identifier } from "../syntax/tree.ts";
import { refuse } from "./refusal.ts";

/** Functions whose result is called as their first argument is. */
const NAMED_AS_ARGUMENT: ReadonlySet<string> = new Set(
  (
    "abs acos asin atan atan2 bin bin_at bin_auto binary_and binary_not binary_or binary_shift_left binary_shift_right " +
    "binary_xor bitset_count_ones ceiling cos erf erfc exp exp10 exp2 floor format_bytes format_datetime format_timespan " +
    "gamma log log10 log2 loggamma parse_csv parse_json parse_xml parsejson pow rand round series_fill_backward series_fill_const " +
    "series_fill_forward series_fill_linear series_fir series_iir series_outliers sin split sqrt startofday tan " +
    "tobool toboolean todatetime todecimal todouble todynamic toguid tohex toint tolong toobject toreal tostring totime totimespan"
  ).split(" "),
);

/** Functions whose result is called after them and their first argument. */
const NAMED_AFTER_BOTH: ReadonlySet<string> = new Set([
  "strlen",
  "string_size",
  "percentile_tdigest",
  "dcount_hll",
  "gettype",
  "treepath",
  "repeat",
]);

/** The name that a column has without being given one; null when the expression has none. */
export function impliedName(expression: Expression): string | null {
  switch (expression.kind) {
    case "name":
      return expression.name;
    case "member": {
      const base = impliedName(expression.base);
      return base === null ? null : `${base}_${expression.member.name}`;
    }
    case "index":
      return indexedName(expression.base, expression.index);
    case "call":
      return calledName(expression.name.name, expression.arguments);
    default:
      return null;
  }
}

function indexedName(base: Expression, index: Expression): string | null {
  const name = impliedName(base);
  if (name === null || index.kind !== "literal") return null;
  if (index.type === "string") return `${name}_${String(index.value)}`;
  return index.type === "long" ? `${name}_${String(index.value)}` : null;
}

function calledName(name: string, args: readonly Argument[]): string | null {
  const [first] = args;
  if (name === "column_ifexists" || name === "columnifexists") {
    const value = first?.value;
    return value?.kind === "literal" && typeof value.value === "string" ? value.value : null;
  }
  if (first === undefined) return null;
  const argument = impliedName(first.value);
  if (NAMED_AS_ARGUMENT.has(name)) return argument;
  if (NAMED_AFTER_BOTH.has(name)) return argument === null ? `${name}_` : `${name}_${argument}`;
  return null;
}

/** Names that are unique: one that is taken gets a number behind it. */
/** Refuses a table whose columns have one name twice. */
export function refuseTwice(names: readonly Identifier[]): void {
  const seen = new Set<string>();
  for (const { name, span } of names) {
    if (seen.has(name)) refuse("DUPLICATE_NAME", `Two columns are called ${name}.`, span);
    seen.add(name);
  }
}

export class UniqueNames {
  readonly #taken: Set<string>;
  #columnCount = 0;

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** The name, or with the first free number behind it. */
  claim(name: string): string {
    let free = name;
    for (let i = 1; this.#taken.has(free); i++) free = `${name}${i}`;
    this.#taken.add(free);
    return free;
  }

  /** The name for an expression without one: `Column1`, `Column2`, ... */
  claimColumn(): string {
    this.#columnCount++;
    while (this.#taken.has(`Column${this.#columnCount}`)) this.#columnCount++;
    return this.claim(`Column${this.#columnCount}`);
  }
}
