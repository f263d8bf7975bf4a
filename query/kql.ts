import { type DiscoveredRows, DiscoveryNeeded } from "./bind/discovery.ts";
import { ExternalNeeded } from "./bind/external-table.ts";
import { bindQuery, type KqlQuery } from "./bind/query.ts";
import { Refusal } from "./bind/refusal.ts";
import { type ExternalSource, type KeptNames, type KeptTable, NOTHING_KEPT } from "./kept.ts";
import { type Library, type LibraryUse, NO_LIBRARY } from "./library.ts";
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
  readonly discovered?: readonly DiscoveredRows[];
  /** What the organisation keeps under names; without it, nothing. */
  readonly kept?: KeptNames;
  /** What computes the functions that no store does; without it, nothing. */
  readonly library?: Library;
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
       * What the query makes depends on the data: this relation answers with texts, at most `DISCOVERY_MAX_ROWS` rows of them,
       * and the query compiles with what it found. Null where that would not help.
       */
      readonly discovery: Relation | null;
      /** What a library computes of the texts that `discovery` answers; null where it computes nothing. */
      readonly computes: LibraryUse | null;
      /** Files elsewhere that the query reads: it compiles with them among `externals`. Null where that would not help. */
      readonly external: ExternalSource | null;
    };

/** The plan of a query text, or at least one diagnostic; never throws for any text. */
export function compileKql(text: string, options: KqlOptions): KqlCompilation {
  const { nowNs, tables = LOG_TABLES, discovered = [], kept = NOTHING_KEPT } = options;
  const { externals = new Map(), library = NO_LIBRARY } = options;
  if (text.length > QUERY_TEXT_MAX_CHARS) {
    const message = `The query is longer than ${QUERY_TEXT_MAX_CHARS} characters.`;
    const span = { start: QUERY_TEXT_MAX_CHARS, end: text.length };
    return failed(text, [{ code: "TEXT_TOO_LONG", message, span, suggestion: null }]);
  }
  const { query, problems } = parseQuery(text);
  if (query === null || problems.length > 0) return failed(text, problems);
  try {
    return { ok: true, query: bindQuery(query, { nowNs, tables, discovered, kept, externals, library }) };
  } catch (error) {
    if (error instanceof Refusal) return failed(text, [error.problem]);
    if (error instanceof DiscoveryNeeded) {
      const message = "What it makes depends on the data, which are not looked at here.";
      const problem = { code: "UNSUPPORTED", message, span: error.span, suggestion: null } as const;
      return failed(text, [problem], { discovery: error.relation, computes: error.computes });
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
  {
    discovery = null,
    computes = null,
    external = null,
  }: Partial<Pick<Failure, "discovery" | "computes" | "external">> = {},
): KqlCompilation {
  return { ok: false, diagnostics: diagnosticsOf(text, problems), discovery, computes, external };
}

/** The problems of a text with their places in lines. */
export function diagnosticsOf(text: string, problems: readonly Problem[]): Diagnostic[] {
  return problems.map((problem) => ({
    ...problem,
    ...lineAndColumn(text, problem.span.start),
    text: text.slice(problem.span.start, Math.min(problem.span.end, problem.span.start + EXCERPT_MAX_CHARS)),
  }));
}
