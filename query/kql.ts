import { type DiscoveredColumn, DiscoveryNeeded } from "./bind/discovery.ts";
import { ExternalNeeded } from "./bind/external-table.ts";
import { bindQuery, type KqlQuery } from "./bind/query.ts";
import { Refusal } from "./bind/refusal.ts";
import { type ExternalSource, type KeptNames, type KeptTable, NOTHING_KEPT } from "./kept.ts";
import { QUERY_TEXT_MAX_CHARS } from "./limits.ts";
import type { Relation } from "./plan/relation.ts";
import { LOG_TABLES, type NamedTables } from "./schema.ts";
import type { Span } from "./span.ts";
import type { DiagnosticCode, Problem } from "./syntax/diagnostic.ts";
import { lineAndColumn, parseQuery } from "./syntax/parser.ts";

export interface KqlOptions {
  /** What `now()` answers: nanoseconds since 1970. */
  readonly nowNs: bigint;
  /** The tables that a query may name; without it, the logs. */
  readonly tables?: NamedTables;
  /** What the relations of `discovery` answered in earlier compilations of this text, in their order. */
  readonly discovered?: readonly (readonly DiscoveredColumn[])[];
  /** What the organisation keeps under names; without it, nothing. */
  readonly kept?: KeptNames;
  /** Tables that files elsewhere have been made, by `externalKey`. */
  readonly externals?: ReadonlyMap<string, KeptTable>;
}

/** One thing that is wrong with a query, and where. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly message: string;
  /** UTF-16 offsets in the text. */
  readonly span: Span;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** What stands at the place. */
  readonly text: string;
  /** What was probably meant. */
  readonly suggestion: string | null;
}

export type KqlCompilation =
  | { readonly ok: true; readonly query: KqlQuery }
  | {
      readonly ok: false;
      readonly diagnostics: readonly Diagnostic[];
      /**
       * The columns of the answer depend on the data: this relation answers with their names and the types of their
       * values, as texts, and the text compiles with what it found. Null where that would not help.
       */
      readonly discovery: Relation | null;
      /** Files elsewhere that the query reads: it compiles with them among `externals`. Null where that would not help. */
      readonly external: ExternalSource | null;
    };

/** The plan of a query text, or at least one diagnostic; never throws for any text. */
export function compileKql(
  text: string,
  { nowNs, tables = LOG_TABLES, discovered = [], kept = NOTHING_KEPT, externals = new Map() }: KqlOptions,
): KqlCompilation {
  if (text.length > QUERY_TEXT_MAX_CHARS) {
    const message = `The query is longer than ${QUERY_TEXT_MAX_CHARS} characters.`;
    const span = { start: QUERY_TEXT_MAX_CHARS, end: text.length };
    return failed(text, [{ code: "TEXT_TOO_LONG", message, span, suggestion: null }]);
  }
  const { query, problems } = parseQuery(text);
  if (query === null || problems.length > 0) return failed(text, problems);
  try {
    return { ok: true, query: bindQuery(query, { nowNs, tables, discovered, kept, externals }) };
  } catch (error) {
    if (error instanceof Refusal) return failed(text, [error.problem]);
    if (error instanceof DiscoveryNeeded) {
      const message = "The columns depend on the data, which are not looked at here.";
      const problem = { code: "UNSUPPORTED", message, span: error.span, suggestion: null } as const;
      return failed(text, [problem], { discovery: error.relation });
    }
    if (error instanceof ExternalNeeded) {
      const message = "externaldata reads files of other servers, which is not done here.";
      const problem = { code: "UNSUPPORTED", message, span: error.span, suggestion: null } as const;
      return failed(text, [problem], { external: error.source });
    }
    throw error;
  }
}

type Failure = Extract<KqlCompilation, { readonly ok: false }>;

/** Characters of the offending text that a diagnostic repeats. */
const EXCERPT_MAX_CHARS = 80;

function failed(
  text: string,
  problems: readonly Problem[],
  { discovery = null, external = null }: Partial<Pick<Failure, "discovery" | "external">> = {},
): KqlCompilation {
  return { ok: false, diagnostics: diagnosticsOf(text, problems), discovery, external };
}

/** The problems of a text with their places in lines. */
export function diagnosticsOf(text: string, problems: readonly Problem[]): Diagnostic[] {
  return problems.map((problem) => ({
    ...problem,
    ...lineAndColumn(text, problem.span.start),
    text: text.slice(problem.span.start, Math.min(problem.span.end, problem.span.start + EXCERPT_MAX_CHARS)),
  }));
}
