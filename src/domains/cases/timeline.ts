import type { AttachedIncident } from "./store.ts";
import type { CaseEvidence, CaseNote, StoredCase, TimelineEntry } from "./types.ts";

/**
 * What happened, by two clocks: when it happened and when it was known. Entries stand where they happened, and where nobody
 * says that, where they became known.
 */
export function timelineOf(
  { title, createdAt }: Pick<StoredCase, "title" | "createdAt">,
  parts: {
    readonly notes: readonly CaseNote[];
    readonly evidence: readonly CaseEvidence[];
    readonly incidents: readonly AttachedIncident[];
  },
): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    {
      happenedAt: null,
      knownAt: createdAt,
      kind: "opened",
      text: `The case was opened: ${title}`,
      ref: null,
    },
    ...parts.notes.map(({ id, kind, body, createdAt: knownAt }): TimelineEntry => {
      return { happenedAt: null, knownAt, kind, text: body, ref: String(id) };
    }),
    ...parts.evidence.map(({ kind, ref, snapshot, eventAt, createdAt: knownAt }): TimelineEntry => {
      return { happenedAt: eventAt, knownAt, kind: "evidence", text: evidenceText(kind, ref, snapshot), ref };
    }),
    ...parts.incidents.map(({ id, title: text, openedAt, addedAt }): TimelineEntry => {
      const [happenedAt, knownAt] = [openedAt.toISOString(), addedAt.toISOString()];
      return { happenedAt, knownAt, kind: "incident", text, ref: String(id) };
    }),
  ];
  const placeOf = ({ happenedAt, knownAt }: TimelineEntry): string => happenedAt ?? knownAt;
  return entries.sort((left, right) => (placeOf(left) < placeOf(right) ? -1 : 1));
}

/** What a piece of evidence says of itself: the message of an entry, the title of an incident. */
export function evidenceText(kind: CaseEvidence["kind"], ref: string, snapshot: object | null): string {
  const said =
    snapshot === null ? undefined : Object.entries(snapshot).find(([name]) => SAYING.has(name))?.[1];
  return typeof said === "string" ? said : `${kind} ${ref}`;
}

const SAYING: ReadonlySet<string> = new Set(["message", "title"]);
