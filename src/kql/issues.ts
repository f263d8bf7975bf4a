import {
  compileKql,
  type Diagnostic,
  type DiscoveredColumn,
  type KqlCompilation,
  type KqlQuery,
  lineAndColumn,
  type Relation,
  type Span,
} from "../../query/index.ts";
import { ApiError, MAX_FIELD_ISSUES, type QueryIssue } from "../errors.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** Looks at the data that one query may need before its columns are known. */
const DISCOVERIES_MAX_COUNT = 8;

/** What a relation of two columns of text answers: names of columns, and types of their values. */
type LookAtData = (relation: Relation) => Promise<readonly (readonly unknown[])[]>;

/**
 * The plan of a query text; `nowMs` is what `now()` means in it. Where the columns depend on the data, it looks at
 * them first. Throws KQL_INVALID with every problem and its place, and what `look` throws.
 */
export async function compileQueryText(text: string, nowMs: number, look: LookAtData): Promise<KqlQuery> {
  const discovered: DiscoveredColumn[][] = [];
  for (;;) {
    const compiled = compileAt(text, nowMs, discovered);
    if (compiled.ok) return compiled.query;
    if (compiled.discovery === null || discovered.length >= DISCOVERIES_MAX_COUNT)
      throw kqlInvalid(compiled.diagnostics.map(issueOf));
    discovered.push(columnsOf(await look(compiled.discovery)));
  }
}

/** Throws KQL_INVALID for a text that is no query. */
export function checkQueryText(text: string, nowMs: number): void {
  const compiled = compileAt(text, nowMs, []);
  if (!compiled.ok && compiled.discovery === null) throw kqlInvalid(compiled.diagnostics.map(issueOf));
}

/** The entries that a query lets through. Throws KQL_INVALID for a query whose rows are not entries, whole. */
export function compileEntryQuery(text: string, nowMs: number): Relation {
  const compiled = compileAt(text, nowMs, []);
  if (!compiled.ok) throw kqlInvalid(compiled.diagnostics.map(issueOf));
  const { keepsEntries, relation, rowChange } = compiled.query;
  if (keepsEntries) return relation;
  throw kqlInvalid([rowChangeIssue(text, rowChange ?? { start: 0, end: text.length })]);
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

function compileAt(text: string, nowMs: number, discovered: DiscoveredColumn[][]): KqlCompilation {
  return compileKql(text, { nowNs: BigInt(Math.trunc(nowMs)) * NANOS_PER_MILLI, discovered });
}

/** Rows of a name and a type, brought together by name. */
function columnsOf(rows: readonly (readonly unknown[])[]): DiscoveredColumn[] {
  const types = new Map<string, string[]>();
  for (const [name, type] of rows)
    types.set(String(name), [...(types.get(String(name)) ?? []), String(type)]);
  return [...types].map(([name, of]) => ({ name, types: of }));
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
