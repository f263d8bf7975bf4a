import {
  type BareName,
  compileKql,
  type Diagnostic,
  type DiscoveredRows,
  EVERY_TABLE,
  type ExternalSource,
  externalKey,
  type KeptDiagnostic,
  type KeptNames,
  type KeptTable,
  type KqlCompilation,
  type KqlQuery,
  type Library,
  LOG_TABLES,
  lineAndColumn,
  type NamedTables,
  NO_LIBRARY,
  NOTHING_KEPT,
  type Relation,
  type Span,
  UNCOMPUTED_LIBRARY,
} from "../../query/index.ts";
import { ApiError, MAX_FIELD_ISSUES, type QueryIssue } from "../errors.ts";
import { FileProblem } from "./kept/delimited-rows.ts";
import { MemoisedLibrary } from "./library/memoised-library.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** Looks at the data that one query may need before its columns are known. */
const DISCOVERIES_MAX_COUNT = 8;

/** `externaldata` in one query. */
const EXTERNALS_MAX_COUNT = 8;

/** What a relation of texts answers. */
type LookAtData = (relation: Relation) => Promise<readonly (readonly unknown[])[]>;

/** Makes a table of files elsewhere. Throws FileProblem where there is none to be made. */
type ReadExternal = (source: ExternalSource) => Promise<KeptTable>;

interface QueryMaking {
  /** What `now()` means, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly look: LookAtData;
  readonly readExternal: ReadExternal;
  /** What may be named of what is stored, and of what the organisation keeps. */
  readonly tables: NamedTables;
  readonly kept: KeptNames;
  readonly library: Library;
}

/**
 * The plan of a query text. Where the columns depend on the data, it looks at them first, and it reads what the query wants
 * of other servers. Throws PAT_SCOPE_INSUFFICIENT for a table that there is but not among `tables`, KQL_INVALID with
 * every problem and its place, and what `look` and `readExternal` throw.
 */
export async function compileQueryText(text: string, making: QueryMaking): Promise<KqlQuery> {
  const { nowMs, look, readExternal, tables, kept, library } = making;
  const discovered: DiscoveredRows[] = [];
  const externals = new Map<string, KeptTable>();
  const memoised = new MemoisedLibrary(library);
  const known: Known = { discovered, externals, tables, kept, library: memoised.library };
  for (;;) {
    const compiled = compileAt(text, nowMs, known);
    if (compiled.ok) return compiled.query;
    const { diagnostics, discovery, computes, external } = compiled;
    if (external !== null && externals.size < EXTERNALS_MAX_COUNT) {
      const table = await readExternal(external).catch((error: unknown) => {
        throw error instanceof FileProblem ? kqlInvalid(said(diagnostics, error.message)) : error;
      });
      externals.set(externalKey(external), table);
      continue;
    }
    if (discovery === null && needsMoreTables(text, nowMs, known))
      throw new ApiError(
        "PAT_SCOPE_INSUFFICIENT",
        "The token lacks the scope monitors:read, which the table checks needs.",
      );
    if (discovery === null || discovered.length >= DISCOVERIES_MAX_COUNT)
      throw kqlInvalid(diagnostics.map(issueOf));
    const found = (await look(discovery)).map((row) => row.map((cell) => String(cell ?? "")));
    if (computes !== null) await memoised.computeAll(computes, found.flat());
    discovered.push(found);
  }
}

/** The same places with another message. */
function said(diagnostics: readonly Diagnostic[], message: string): QueryIssue[] {
  return diagnostics.map((diagnostic) => issueOf({ ...diagnostic, message }));
}

/** What a query is bound with: what was found of the data, and what it may name. */
interface Known {
  readonly discovered: readonly DiscoveredRows[];
  readonly externals?: ReadonlyMap<string, KeptTable>;
  readonly tables: NamedTables;
  readonly kept: KeptNames;
  readonly library: Library;
}

/** Whether it is nothing but the tables that a query that does not compile lacks. */
function needsMoreTables(text: string, nowMs: number, known: Known): boolean {
  if (known.tables === EVERY_TABLE) return false;
  return isMeaningful(compileAt(text, nowMs, { ...known, tables: EVERY_TABLE }));
}

/** Whether a text is a query, as far as that can be said without the data. */
function isMeaningful(compiled: KqlCompilation): boolean {
  return compiled.ok || compiled.discovery !== null || compiled.external !== null;
}

/** Throws KQL_INVALID for a text that is no query, whoever may run it. */
export function checkQueryText(text: string, nowMs: number, kept: KeptNames = NOTHING_KEPT): void {
  const compiled = compileAt(text, nowMs, {
    ...{ discovered: [], tables: EVERY_TABLE, kept },
    library: UNCOMPUTED_LIBRARY,
  });
  if (!compiled.ok && !isMeaningful(compiled)) throw kqlInvalid(compiled.diagnostics.map(issueOf));
}

/**
 * The entries that a query lets through; where it stands for longer than one answer, nothing that is kept can be named, for
 * that may change meanwhile. Throws KQL_INVALID for a query whose rows are not entries, whole.
 */
export function compileEntryQuery(text: string, nowMs: number, kept: KeptNames = NOTHING_KEPT): Relation {
  const compiled = compileAt(text, nowMs, {
    ...{ discovered: [], tables: LOG_TABLES, kept },
    library: NO_LIBRARY,
  });
  if (!compiled.ok) throw kqlInvalid(compiled.diagnostics.map(issueOf));
  const { keepsEntries, relation, rowChange } = compiled.query;
  if (keepsEntries) return relation;
  throw kqlInvalid([rowChangeIssue(text, rowChange ?? { start: 0, end: text.length })]);
}

/** The names of a query that are no columns, and were read as attributes; of a text that is no query, none. */
export function bareNamesIn(text: string, nowMs: number, kept: KeptNames): readonly BareName[] {
  const compiled = compileAt(text, nowMs, {
    ...{ discovered: [], tables: LOG_TABLES, kept },
    library: UNCOMPUTED_LIBRARY,
  });
  return compiled.ok ? compiled.query.bareNames : [];
}

/** The refusal of a query that is one, but does what cannot stand where it was given; `message` says what can. */
export function notAllowedHere(text: string, message: string): ApiError {
  return new ApiError("KQL_INVALID", `The query is not valid: ${message}`, {
    fields: [{ path: "/query", code: "UNSUPPORTED", message, ...wholeOf(text), suggestion: null }],
  });
}

/** The place of a problem that lies somewhere in a text. */
function wholeOf(text: string) {
  return { line: 1, column: 1, start: 0, end: text.length, text: text.slice(0, EXCERPT_MAX_CHARS) };
}

function compileAt(text: string, nowMs: number, known: Known): KqlCompilation {
  const nowNs = BigInt(Math.trunc(nowMs)) * NANOS_PER_MILLI;
  return compileKql(text, { nowNs, ...known });
}

/** The refusal of a function that is to be kept; each problem is in the field of its text. */
export function functionInvalid(diagnostics: readonly KeptDiagnostic[]): ApiError {
  return kqlInvalid(
    diagnostics.map((diagnostic) => ({ ...issueOf(diagnostic), path: `/${diagnostic.part}` })),
  );
}

function kqlInvalid(issues: readonly QueryIssue[]): ApiError {
  const [first] = issues;
  const place = first === undefined ? "" : ` (line ${first.line}, column ${first.column}): ${first.message}`;
  return new ApiError("KQL_INVALID", `The query is not valid${place}`, {
    fields: issues.slice(0, MAX_FIELD_ISSUES),
  });
}

/** What the store found wrong with a part of the query lies somewhere in its text. Any other error as it is. */
export function withPlace(error: unknown, text: string): unknown {
  if (!(error instanceof ApiError) || error.code !== "KQL_INVALID" || error.fields !== undefined)
    return error;
  const { message } = error;
  const issue = {
    path: "/query",
    code: "WRONG_ARGUMENTS",
    message,
    ...wholeOf(text),
    suggestion: null,
  } as const;
  return new ApiError("KQL_INVALID", message, { fields: [issue], cause: error });
}

function issueOf({ code, message, span, line, column, text, suggestion }: Diagnostic): QueryIssue {
  return {
    path: "/query",
    code,
    message,
    line,
    column,
    start: span.start,
    end: span.end,
    text,
    suggestion,
  };
}

/** Characters of the text that a problem repeats. */
const EXCERPT_MAX_CHARS = 80;

function rowChangeIssue(text: string, { start, end }: Span): QueryIssue {
  const excerpt = text.slice(start, Math.min(end, start + EXCERPT_MAX_CHARS));
  return {
    path: "/query",
    code: "UNSUPPORTED",
    message: `\`${excerpt}\` makes other rows than log entries; only what keeps them can stand here, such as \`where\`.`,
    ...lineAndColumn(text, start),
    start,
    end,
    text: excerpt,
    suggestion: null,
  };
}
