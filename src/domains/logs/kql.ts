import { compileKql, type Diagnostic, type KqlQuery, type Relation } from "../../../query/index.ts";
import { ApiError, type QueryIssue } from "../../errors.ts";
import { MAX_FIELD_ISSUES } from "../../http/limits.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** The plan of a query text; `nowMs` is what `now()` means in it. Throws KQL_INVALID with every problem and its place. */
export function compileQueryText(text: string, nowMs: number): KqlQuery {
  const compiled = compileKql(text, { nowNs: BigInt(Math.trunc(nowMs)) * NANOS_PER_MILLI });
  if (compiled.ok) return compiled.query;
  throw kqlInvalid(compiled.diagnostics.map(issueOf));
}

/** The entries that a query lets through. Throws KQL_INVALID for a query whose rows are not entries, whole. */
export function compileEntryQuery(text: string, nowMs: number): Relation {
  const { keepsEntries, relation } = compileQueryText(text, nowMs);
  if (keepsEntries) return relation;
  throw kqlInvalid([rowChangeOf(text)]);
}

function kqlInvalid(issues: readonly QueryIssue[]): ApiError {
  const [first] = issues;
  const place = first === undefined ? "" : ` (line ${first.line}, column ${first.column}): ${first.message}`;
  return new ApiError("KQL_INVALID", `The query is not valid${place}`, {
    fields: issues.slice(0, MAX_FIELD_ISSUES),
  });
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

/** Operators whose rows are entries no more. */
const CHANGES_ROWS =
  /\|\s*(?<name>summarize|project(?:-\w+)?|extend|count|distinct|mv-expand|mv-apply|make-series|parse(?:-\w+)?|union|top-nested|getschema|evaluate|reduce|lookup|join|sample-distinct|top-hitters|facet|fork|partition|scan|serialize|invoke|find|search|range|print)\b/;

/** The first operator that does it, as far as the text shows it; else the whole text. */
function rowChangeOf(text: string): QueryIssue {
  const found = CHANGES_ROWS.exec(text);
  const name = found?.groups?.name ?? "";
  const start = found === null ? 0 : found.index + found[0].length - name.length;
  const end = found === null ? text.length : start + name.length;
  const before = text.slice(0, start).split("\n");
  return {
    path: "/query",
    code: "UNSUPPORTED",
    message:
      name === ""
        ? "This makes other rows than log entries; only conditions can stand here."
        : `\`${name}\` makes other rows than log entries; only operators that keep them can stand here, such as \`where\`.`,
    line: before.length,
    column: (before.at(-1) ?? "").length + 1,
    start,
    end,
    text: text.slice(start, Math.min(end, start + 80)),
    suggestion: null,
  };
}
