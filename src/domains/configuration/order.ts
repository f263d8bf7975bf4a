import type { JsonValue } from "../../audit/canonical-json.ts";
import type { FieldIssue } from "../../errors.ts";
import type { DesiredRecord } from "./desired.ts";
import { mapReferences, referenceOf } from "./fields.ts";

interface Ordering {
  /** Each record behind those that it needs; apart from that as they were given. */
  readonly ordered: readonly DesiredRecord[];
  readonly issues: readonly FieldIssue[];
}

/** What files call a record: `monitors/api`. */
export function addressOf({
  kind,
  key,
}: {
  readonly kind: { readonly kind: string };
  readonly key: string;
}): string {
  return `${kind.kind}/${key}`;
}

/** Orders records by what they refer to. A circle is an issue that says its way. */
export function orderByNeed(desired: readonly DesiredRecord[]): Ordering {
  const needs = needsOf(desired);
  const byAddress = new Map(desired.map((record) => [addressOf(record), record]));
  const ordered: DesiredRecord[] = [];
  const issues: FieldIssue[] = [];
  const state = new Map<string, "visiting" | "done">();
  const way: string[] = [];
  const visit = (record: DesiredRecord): void => {
    const address = addressOf(record);
    if (state.get(address) === "done") return;
    if (state.get(address) === "visiting") {
      const circle = [...way.slice(way.indexOf(address)), address].join(" -> ");
      issues.push({ path: record.at, code: "custom", message: `needs itself: ${circle}` });
      return;
    }
    state.set(address, "visiting");
    way.push(address);
    for (const needed of needs.get(address) ?? []) {
      const other = byAddress.get(needed);
      if (other !== undefined) visit(other);
    }
    way.pop();
    state.set(address, "done");
    ordered.push(record);
  };
  for (const record of desired) visit(record);
  return { ordered, issues };
}

/** The addresses that each record refers to or calls. */
function needsOf(desired: readonly DesiredRecord[]): Map<string, string[]> {
  const called = new Map<string, string>();
  for (const record of desired) {
    const name = record.fields.name;
    if (record.kind.calls !== null && typeof name === "string")
      called.set(`${record.kind.kind}\n${name}`, addressOf(record));
  }
  return new Map(
    desired.map((record) => {
      const { kind, fields } = record;
      const needed: string[] = [];
      mapReferences(kind, fields, (found): JsonValue => {
        const reference = referenceOf(found);
        if (reference !== null) needed.push(reference);
        return found;
      });
      for (const name of kind.calls?.(fields) ?? []) {
        const address = called.get(`${kind.kind}\n${name}`);
        if (address !== undefined) needed.push(address);
      }
      return [addressOf(record), needed];
    }),
  );
}
