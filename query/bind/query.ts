import type { Expression } from "../expression.ts";
import type { KeptNames, KeptTable } from "../kept.ts";
import type { Library } from "../library.ts";
import { SCANS_MAX_COUNT } from "../limits.ts";
import { filter, scan, unitRow } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import { weightOf } from "../plan/weight.ts";
import type { TableName } from "../schema.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import type { DiscoveredRows } from "./discovery.ts";
import {
  type BareName,
  type Compilation,
  Environment,
  type MissingTable,
  refuseScans,
} from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { bindFacet } from "./facet.ts";
import { bindOperator } from "./pipeline.ts";
import { refuse } from "./refusal.ts";
import { bindScalar } from "./scalar.ts";
import { bindStatements } from "./statements.ts";
import { bindTable, isTabular } from "./tabular.ts";
import { withoutHidden } from "./where.ts";

/** How the answer wants to be shown. */
export interface RenderHint {
  readonly chart: string;
  readonly properties: Readonly<Record<string, string>>;
}

/** A query whose names are looked up and whose types are known. */
export interface KqlQuery {
  /** A condition alone, which is a query over the logs, or a pipeline of operators. */
  readonly kind: "predicate" | "pipeline";
  readonly relation: Relation;
  /** Of a condition alone: a bool over the columns of the logs. */
  readonly predicate: Expression | null;
  /** The rows of the answer are rows of the logs, whole. */
  readonly keepsEntries: boolean;
  /** Where the query makes other rows than entries, for a message; meant for a query that does not keep them. */
  readonly rowChange: Span | null;
  /** Further tables of the answer: of a `facet`, which makes one for each column. */
  readonly others: readonly Relation[];
  readonly render: RenderHint | null;
  /** Names that are no columns and were read as attributes: where no entry has one, it was probably meant otherwise. */
  readonly bareNames: readonly BareName[];
  /** Tables that it goes on without, as it says that it would. */
  readonly missingTables: readonly MissingTable[];
}

interface BindOptions {
  readonly nowNs: bigint;
  readonly tables: ReadonlyMap<string, TableName>;
  readonly kept: KeptNames;
  readonly externals: ReadonlyMap<string, KeptTable>;
  readonly discovered: readonly DiscoveredRows[];
  readonly library: Library;
}

/** What is bound within it shares its bounds. */
export function newCompilation(options: BindOptions): Compilation {
  const binder = { scalar: bindScalar, table: bindTable, operator: bindOperator, isTabular };
  return {
    ...options,
    binder,
    calling: [],
    steps: 0,
    scans: 0,
    discoveries: 0,
    bareNames: [],
    missingTables: [],
    render: null,
  };
}

/** Looks up every name of the query and finds every type. Throws a refusal for a query that means nothing. */
export function bindQuery({ statements, body }: syntax.Query, options: BindOptions): KqlQuery {
  const environment = new Environment(newCompilation(options));
  const { compilation } = environment;
  bindStatements(statements, new ExpressionContext(environment, unitRow()));
  if (!isTabular(body, environment)) return bindPredicateQuery(body, environment);
  const [relation, ...others] = bindTables(body, environment);
  // Some operators read their input several times, each of which is a pass over the data as well.
  if ([relation, ...others].some((table) => weightOf(table).scans > SCANS_MAX_COUNT)) refuseScans(body.span);
  const isChanged = body.kind === "pipeline" && !body.operators.every(keepsRows);
  return {
    kind: "pipeline",
    relation,
    predicate: null,
    keepsEntries: !isChanged && isEntries(relation),
    rowChange: rowChangeOf(body),
    others,
    render: renderHint(compilation.render),
    bareNames: compilation.bareNames,
    missingTables: compilation.missingTables,
  };
}

/** The table that a query answers with, or those of a `facet` at its end. */
function bindTables(body: syntax.Expression, environment: Environment): [Relation, ...Relation[]] {
  const last = body.kind === "pipeline" ? body.operators.at(-1) : undefined;
  if (body.kind !== "pipeline" || last?.kind !== "facet") return [bindTable(body, environment)];
  const input = bindTable({ ...body, operators: body.operators.slice(0, -1) }, environment);
  const [first, ...others] = bindFacet(input, last, environment);
  return first === undefined ? refuse("SYNTAX", "facet needs a column.", last.span) : [first, ...others];
}

/** A condition alone asks for the logs for which it is true. */
function bindPredicateQuery(body: syntax.Expression, environment: Environment): KqlQuery {
  const context = ExpressionContext.takingWindows(environment, scan("logs"));
  const predicate: Expression = context.predicate(body);
  if (context.hiddenNames.size > 0)
    refuse("WRONG_TYPE", "A condition alone cannot look at the rows around.", body.span);
  const relation = withoutHidden(filter(context.relation, predicate), context);
  return {
    kind: "predicate",
    relation,
    predicate,
    keepsEntries: true,
    rowChange: null,
    others: [],
    render: null,
    // A word alone asks for the entries that have such an attribute, which is rarely what is meant.
    bareNames: environment.compilation.bareNames.map((bareName) =>
      body.kind === "name" ? { ...bareName, isValue: true } : bareName,
    ),
    missingTables: environment.compilation.missingTables,
  };
}

const KEEPS_ROWS: ReadonlySet<syntax.Operator["kind"]> = new Set([
  "where",
  "take",
  "sample",
  "top",
  "sort",
  "as",
  "render",
  "join",
  "serialize",
]);

/** The first operator whose rows are no entries; the whole text where a source is no table of entries. */
function rowChangeOf(body: syntax.Expression): Span | null {
  if (body.kind !== "pipeline") return body.span;
  return body.operators.find((operator) => !keepsRows(operator))?.keyword.span ?? body.span;
}

function keepsRows(operator: syntax.Operator): boolean {
  return KEEPS_ROWS.has(operator.kind);
}

/** True when the rows are those of the logs, with every column as it was. */
function isEntries(relation: Relation): boolean {
  switch (relation.kind) {
    case "scan":
      return relation.table === "logs";
    case "filter":
    case "sort":
    case "limit":
      return isEntries(relation.input);
    default:
      return false;
  }
}

function renderHint(operator: syntax.RenderOperator | null): RenderHint | null {
  if (operator === null) return null;
  const properties = operator.properties.map(({ name, value }): [string, string] => [
    name.name,
    propertyText(value),
  ]);
  return { chart: operator.chart.name, properties: Object.fromEntries(properties) };
}

function propertyText(value: syntax.Expression): string {
  if (value.kind === "name") return value.name;
  return value.kind === "literal" ? String(value.value) : "";
}
