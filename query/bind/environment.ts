import type { Expression as Bound } from "../expression.ts";
import type { KeptNames, KeptTable } from "../kept.ts";
import type { Library } from "../library.ts";
import { PLAN_MAX_NODES, SCANS_MAX_COUNT } from "../limits.ts";
import type { Relation } from "../plan/relation.ts";
import { weightOf } from "../plan/weight.ts";
import type { TableName } from "../schema.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import type { DiscoveredRows } from "./discovery.ts";
import type { ExpressionContext } from "./expression-context.ts";
import { keptDeclaration } from "./kept-declaration.ts";
import { refuse } from "./refusal.ts";

/** What a name of a `let`, of a parameter or of `as` stands for. */
export type NamedValue =
  | {
      readonly kind: "scalar";
      readonly value: Bound;
      /** Of whose rows it is a value; null for one that does not depend on a row. */
      readonly rowsOf: Relation | null;
    }
  | {
      readonly kind: "table";
      readonly relation: Relation;
      /** Named by `as`, where it is made. */
      readonly isAlias?: boolean;
    }
  | {
      readonly kind: "function";
      readonly declaration: syntax.FunctionDeclaration;
      readonly environment: Environment;
      /** Kept by the organisation: its places are no places of the query. */
      readonly isKept?: boolean;
    };

export type FunctionValue = Extract<NamedValue, { kind: "function" }>;

/** The parts of the binder that mention one another. */
interface Binder {
  scalar(expression: syntax.Expression, context: ExpressionContext): Bound;
  table(expression: syntax.Expression, environment: Environment): Relation;
  operator(input: Relation, operator: syntax.Operator, environment: Environment): Relation;
  isTabular(expression: syntax.Expression, environment: Environment): boolean;
}

/** A name of the query that is no column, and so an attribute. */
export interface BareName {
  readonly name: string;
  readonly span: Span;
  /** It stands where a value is rather than where a name is, as if quotes were forgotten: `level == error`. */
  readonly isValue: boolean;
}

/** A table that a query goes on without. */
export interface MissingTable {
  readonly message: string;
  /** Null where it is named in a function that is kept. */
  readonly span: Span | null;
}

/** What one compilation shares, wherever in the query it is. */
export interface Compilation {
  readonly binder: Binder;
  /** What `now()` answers everywhere in the query: nanoseconds since 1970. */
  readonly nowNs: bigint;
  /** The tables that a query may name. */
  readonly tables: ReadonlyMap<string, TableName>;
  /** What the organisation keeps under names. */
  readonly kept: KeptNames;
  /** Tables that are made of files elsewhere, by `externalKey`. */
  readonly externals: ReadonlyMap<string, KeptTable>;
  /** What computes the functions that no store does. */
  readonly library: Library;
  /** Kept functions whose bodies are being looked at, the outermost first: none of them can be called again. */
  readonly calling: string[];
  /** Steps of binding so far: the bound on queries that grow as their functions and tables are put in place. */
  steps: number;
  /** Tables read so far, those that a name stands for counted wherever it is mentioned. */
  scans: number;
  /** What looks at the data found so far, in the order in which the query needs them. */
  readonly discovered: readonly DiscoveredRows[];
  /** How many of them have been used. */
  discoveries: number;
  /** Bare names that were read as attributes. */
  readonly bareNames: BareName[];
  /** Tables that `union isfuzzy=true` left out. */
  readonly missingTables: MissingTable[];
  /** The last `render`: a hint for whoever shows the answer. */
  render: syntax.RenderOperator | null;
}

/** The names in reach at one place of a query; those further in hide those further out. */
export class Environment {
  readonly compilation: Compilation;
  readonly #names = new Map<string, NamedValue>();
  readonly #outer: Environment | null;
  /** Calls of functions around this place. */
  readonly depth: number;

  constructor(compilation: Compilation, outer: Environment | null = null, depth = outer?.depth ?? 0) {
    this.compilation = compilation;
    this.#outer = outer;
    this.depth = depth;
  }

  define(name: string, value: NamedValue): void {
    this.#names.set(name, value);
  }

  /** The names as they are now: what a function made here sees, which is neither itself nor what comes later. */
  snapshot(): Environment {
    const copy = new Environment(this.compilation, this.#outer, this.depth);
    for (const [name, value] of this.#names) copy.define(name, value);
    return copy;
  }

  /** What a name of the query stands for, else the function that the organisation keeps under it. */
  lookup(name: string): NamedValue | undefined {
    const own = this.#names.get(name);
    if (own !== undefined) return own;
    return this.#outer === null ? this.#keptFunction(name) : this.#outer.lookup(name);
  }

  /** The name that `as` gave a table here; null for one without. */
  aliasOf(relation: Relation): string | null {
    for (const [name, named] of this.#names)
      if (named.kind === "table" && named.isAlias === true && named.relation === relation) return name;
    return this.#outer?.aliasOf(relation) ?? null;
  }

  /** Every name in reach, for suggestions. */
  names(): string[] {
    const further = this.#outer?.names() ?? this.compilation.kept.functions.keys();
    return [...this.#names.keys(), ...further];
  }

  /** Whether a table that is stored or kept has this name. */
  isTable(name: string): boolean {
    const { tables, kept } = this.compilation;
    return tables.has(name) || kept.tables.has(name);
  }

  /** The tables that are stored, then those that are kept. */
  tableNames(): string[] {
    const { tables, kept } = this.compilation;
    return [...tables.keys(), ...kept.tables.keys()];
  }

  /** The functions of the query that are declared as views: they stand among the tables where a pattern of names does. */
  viewNames(): string[] {
    const own = [...this.#names].flatMap(([name, named]) =>
      named.kind === "function" && named.declaration.isView && named.declaration.parameters.length === 0
        ? [name]
        : [],
    );
    return [...own, ...(this.#outer?.viewNames() ?? [])];
  }

  /** It sees what the organisation keeps, and nothing of the query that calls it. */
  #keptFunction(name: string): FunctionValue | undefined {
    const kept = this.compilation.kept.functions.get(name);
    const declaration = kept === undefined ? null : keptDeclaration(kept);
    if (declaration === null) return undefined;
    return { kind: "function", declaration, environment: new Environment(this.compilation), isKept: true };
  }

  table(expression: syntax.Expression): Relation {
    return this.compilation.binder.table(expression, this);
  }

  operator(input: Relation, operator: syntax.Operator): Relation {
    return this.compilation.binder.operator(input, operator, this);
  }

  /** True for what makes a table rather than a value. */
  isTabular(expression: syntax.Expression): boolean {
    return this.compilation.binder.isTabular(expression, this);
  }

  /** Counts work towards the bound of the compilation. */
  step(span: Span, count = 1): void {
    this.compilation.steps += count;
    if (this.compilation.steps > PLAN_MAX_NODES)
      refuse("TOO_COMPLEX", "The query is too large once its functions and tables are put in place.", span);
  }

  /** Counts all of a part of the plan that stands here: a table, or what a name stands for. */
  mention(part: Relation | Bound, span: Span): void {
    const { nodes, scans } = weightOf(part);
    this.step(span, nodes);
    this.compilation.scans += scans;
    if (this.compilation.scans > SCANS_MAX_COUNT) refuseScans(span);
  }

  /** What `bind` makes is named, and counts where the name is mentioned. */
  naming<T>(bind: () => T): T {
    const { scans } = this.compilation;
    const made = bind();
    this.compilation.scans = scans;
    return made;
  }
}

/** Refuses a query that reads more tables than it may. */
export function refuseScans(span: Span): never {
  return refuse(
    "TOO_COMPLEX",
    `A query reads tables ${SCANS_MAX_COUNT} times at most, every mention counted, also of a name that stands for a table.`,
    span,
  );
}
