import { ApiError, type FieldProblem, type QueryPlace } from "../../api/errors.ts";
import { FIELDS_SHOWN_MAX } from "../../api/limits.ts";
import { CliError } from "../cli-error.ts";
import { QUERY_LINE_SHOWN_MAX_CHARS } from "../limits.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { sqlHint } from "./sql-hint.ts";

/**
 * A refusal of a query, shown with the line it is about and a caret under what is wrong, when the server says where that is.
 * Any other error comes back as it is.
 */
export function explainQueryProblems(error: unknown, query: string | undefined): unknown {
  if (!(error instanceof ApiError) || query === undefined) return error;
  const placed = error.fields.filter((field): field is PlacedProblem => field.place !== undefined);
  if (placed.length === 0) return error;
  const hint = sqlHint(query);
  if (hint !== null) return new CliError(escapeControls(hint), { cause: error });
  const lines = query.split(/\r?\n/);
  const problems = placed.slice(0, FIELDS_SHOWN_MAX).map((problem) => describeProblem(problem, lines));
  if (placed.length > FIELDS_SHOWN_MAX) problems.push(`and ${placed.length - FIELDS_SHOWN_MAX} more`);
  return new CliError(`${error.code ?? "the query is refused"}: ${problems.join("\n")}`, { cause: error });
}

type PlacedProblem = FieldProblem & { place: QueryPlace };

function describeProblem({ message, place }: PlacedProblem, lines: readonly string[]): string {
  const described = [escapeControls(message)];
  const line = lines[place.line - 1];
  if (line !== undefined) described.push(...markedLine(line, place));
  if (place.suggestion !== undefined && !message.includes(place.suggestion))
    described.push(`  instead: ${escapeControls(place.suggestion)}`);
  return described.join("\n");
}

/** The line, or the part of a long one around the place, and a line with carets below the wrong text. */
function markedLine(line: string, { line: number, column, text }: QueryPlace): string[] {
  const start = Math.min(Math.max(column - 1, 0), line.length);
  // A text over several lines is marked to the end of its first one.
  const firstLine = text.split(/\r?\n/, 1)[0] ?? "";
  const end = Math.min(start + firstLine.length, line.length);
  const from = Math.max(
    0,
    Math.min(start - QUERY_LINE_SHOWN_MAX_CHARS / 2, line.length - QUERY_LINE_SHOWN_MAX_CHARS),
  );
  const to = from + QUERY_LINE_SHOWN_MAX_CHARS;
  const before = `${from > 0 ? "\u2026" : ""}${visible(line.slice(from, start))}`;
  const wrong = visible(line.slice(start, Math.min(end, to)));
  const after = `${visible(line.slice(Math.min(end, to), to))}${to < line.length ? "\u2026" : ""}`;
  const margin = `  ${number} | `;
  const carets = "^".repeat(Math.max(1, Bun.stringWidth(wrong)));
  return [
    `${margin}${before}${wrong}${after}`,
    `${" ".repeat(margin.length - 2)}| ${" ".repeat(Bun.stringWidth(before))}${carets}`,
  ];
}

/** A tab is as wide as the terminal likes; a blank is as wide as a caret. */
function visible(text: string): string {
  return escapeControls(text.replaceAll("\t", " "));
}
