import type { CallAnswer } from "../../api/calls.ts";
import type { Colors } from "../terminal/colors.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { formatCount } from "../terminal/quantities.ts";

type Planned = CallAnswer<"POST /api/v1/config/plan">;
type Change = Planned["changes"][number];
type FieldChange = Change["fields"][number];
type Drift = CallAnswer<"GET /api/v1/config/drift">;

/** Characters of two values that still stand side by side. */
const SIDE_BY_SIDE_MAX_CHARS = 70;
/** Characters of a value that are shown: the files have the rest. */
const VALUE_MAX_CHARS = 2_000;

const SIGNS: Readonly<Record<Change["action"], string>> = {
  create: "+",
  update: "~",
  drift: "!",
  replace: "±",
  delete: "-",
  orphan: "?",
  unchanged: "=",
};
const NOTES: Partial<Record<Change["action"], string>> = {
  drift: "was changed by other means and is set back",
  replace: "is deleted and made anew",
  orphan: "no file describes it; --prune deletes it",
};

/** A plan, a record after the other, and its sum. */
export function planLines({ changes, summary }: Planned, colors: Colors): string[] {
  return [...changes.flatMap((change) => changeLines(change, colors)), summaryOf(summary)];
}

/** What was changed by other means. */
export function driftLines({ drift, checked }: Drift, colors: Colors): string[] {
  const lines = drift.flatMap(({ kind, key, change, fields }) => [
    colors.bold(escapeControls(`! ${kind}/${key}${change === "deleted" ? "  was deleted" : ""}`)),
    ...fields.flatMap((field) => fieldLines(field)),
  ]);
  const sum = `${formatCount(drift.length)} of ${formatCount(checked)} records are not as they were applied`;
  return [
    ...lines,
    drift.length === 0 ? `all ${formatCount(checked)} records are as they were applied` : sum,
  ];
}

function changeLines({ kind, key, action, isAdopted, movedFrom, fields }: Change, colors: Colors): string[] {
  const notes = [
    ...(isAdopted ? ["was there already and is taken over"] : []),
    ...(movedFrom === null ? [] : [`was ${kind}/${movedFrom}`]),
    ...(NOTES[action] === undefined ? [] : [NOTES[action]]),
  ];
  const note = notes.length === 0 ? "" : `  ${notes.join("; ")}`;
  return [
    `${colors.bold(escapeControls(`${SIGNS[action]} ${kind}/${key}`))}${colors.dim(escapeControls(note))}`,
    ...fields.flatMap((field) => fieldLines(field)),
  ];
}

function fieldLines({ field, before, after, isSecret, isDrifted }: FieldChange): string[] {
  const name = escapeControls(field);
  const drifted = isDrifted ? "  (by other means)" : "";
  if (isSecret) return [`    ${name}: another secret${drifted}`];
  const [left, right] = [valueText(before), valueText(after)];
  if (left.length + right.length <= SIDE_BY_SIDE_MAX_CHARS)
    return [`    ${name}: ${left} -> ${right}${drifted}`];
  return [`    ${name}:${drifted}`, `      - ${left}`, `      + ${right}`];
}

function valueText(value: unknown): string {
  const text = escapeControls(JSON.stringify(value ?? null));
  return text.length > VALUE_MAX_CHARS ? `${text.slice(0, VALUE_MAX_CHARS)}...` : text;
}

function summaryOf(summary: Planned["summary"]): string {
  const { create, update, drift, replace, orphan, unchanged, adopt, move } = summary;
  const parts: [number, string][] = [
    [create, "to create"],
    [update, "to change"],
    [drift, "to set back"],
    [replace, "to replace"],
    [summary.delete, "to delete"],
    [adopt, "to take over"],
    [move, "to rename"],
    [orphan, "not described"],
    [unchanged, "as described"],
  ];
  const said = parts.filter(([count]) => count > 0).map(([count, what]) => `${formatCount(count)} ${what}`);
  return said.length === 0 ? "nothing is described" : said.join(", ");
}
