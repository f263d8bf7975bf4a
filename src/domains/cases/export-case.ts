import { evidenceText } from "./timeline.ts";
import type { CaseDetails } from "./types.ts";

/** A case as a document in Markdown (CommonMark 0.31) for a report; what people and senders wrote is text in it and nothing else. */
export function caseAsMarkdown(one: CaseDetails): string {
  const { notes, evidence, timeline, observables } = one;
  return [
    `# Case ${one.id}: ${plain(one.title)}`,
    "",
    `- Status: ${one.status}${one.disposition === null ? "" : `, ${one.disposition}`}`,
    `- Severity: ${one.severity}`,
    `- Opened: ${one.createdAt}`,
    ...(one.containedAt === null
      ? []
      : [`- Contained: ${one.containedAt} (after ${one.timeToContainSec} s)`]),
    ...(one.closedAt === null ? [] : [`- Closed: ${one.closedAt} (after ${one.timeToCloseSec} s)`]),
    ...(one.incidentIds.length === 0 ? [] : [`- Incidents: ${one.incidentIds.join(", ")}`]),
    ...(one.summary === null ? [] : ["", "## Summary", "", quoted(one.summary)]),
    ...section(
      "Timeline",
      timeline.map(({ happenedAt, knownAt, kind, text }) => {
        const when = happenedAt === null ? knownAt : `${happenedAt} (known ${knownAt})`;
        return `- ${when}: ${kind}: ${plain(text)}`;
      }),
    ),
    ...section(
      "Notes",
      notes
        .filter(({ kind }) => kind === "note")
        .map(({ createdAt, body }) => `${createdAt}\n\n${quoted(body)}\n`),
    ),
    ...section(
      "Evidence",
      evidence.map(({ kind, ref, snapshot, eventAt }) => {
        const head = `- ${kind} ${code(ref)}${eventAt === null ? "" : `, ${eventAt}`}`;
        return snapshot === null ? head : `${head}: ${plain(evidenceText(kind, ref, snapshot))}`;
      }),
    ),
    ...section(
      "Observables",
      observables.map(({ type, value }) => `- ${type}: ${code(value)}`),
    ),
    "",
  ].join("\n");
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
}

/** One line of text in which no character means anything. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]()#+\-.!|<>~&:@/]/g, "\\$&");
}

/** Lines of text, each of them a quotation. */
function quoted(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${plain(line)}`)
    .join("\n");
}

/** A text between more backticks than it has in a row. */
function code(text: string): string {
  const line = text.replace(/\s+/g, " ");
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence} ${line} ${fence}`;
}
