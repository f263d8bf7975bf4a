import type { FieldIssue } from "../../errors.ts";
import type { Binding } from "./bindings.ts";
import type { DesiredRecord } from "./desired.ts";
import { addressOf } from "./order.ts";

/** What a record's key stands for, or where it has a new key, what the old one stands for. `keys` are those of all records. */
export function bindingAfterMove(
  record: DesiredRecord,
  bindings: ReadonlyMap<string, Binding>,
  keys: ReadonlySet<string>,
): { readonly binding: Binding | null; readonly issue: FieldIssue | null } {
  const { kind, movedFrom, at } = record;
  const own = bindings.get(addressOf(record)) ?? null;
  if (movedFrom === null) return { binding: own, issue: null };
  const before = `${kind.kind}/${movedFrom}`;
  const wrong = (message: string): FieldIssue => ({ path: `${at}/moved/from`, code: "custom", message });
  if (keys.has(before)) return { binding: own, issue: wrong(`is still described: ${before}`) };
  const old = bindings.get(before) ?? null;
  if (own !== null && old !== null)
    return {
      binding: own,
      issue: wrong("and the new key stand for two records; one of them has to go first"),
    };
  // Without the old key it was moved before, or was never there: the line may stay in its file.
  return { binding: own ?? old, issue: null };
}
