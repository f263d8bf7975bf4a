import { GROUP_VALUE_MAX_CHARS, GROUPS_MAX_OF_SEAL } from "./limits.ts";

/** What stands for all groups that are not told apart. */
const OTHER_GROUPS = '["(other)"]';

/** The name of a group: its values as a JSON text, each cut to a length; empty where nothing is grouped. */
export function groupName(values: readonly unknown[]): string {
  if (values.length === 0) return "";
  const cut = (value: unknown): string =>
    [...String(value ?? "")]
      .slice(0, GROUP_VALUE_MAX_CHARS)
      .join("")
      .toWellFormed()
      .replaceAll("\0", "\ufffd");
  return JSON.stringify(values.map(cut));
}

/** The values in the name of a group; none for the empty one. */
export function groupValues(name: string): readonly string[] {
  const values: unknown = name === "" ? [] : JSON.parse(name);
  return Array.isArray(values) ? values.map(String) : [];
}

/** What tells groups apart in the log store: 0 for the empty name. */
export function groupHash(name: string): bigint {
  return name === "" ? 0n : Bun.hash.xxHash64(name);
}

/**
 * The same with few groups: those with most entries stay, and the others are one, which knows how many there were. Of groups with as
 * many the first by name stay, whatever order the store answers in: who counts again comes to the same.
 */
export function fewerGroups<C extends { readonly group: string; readonly n: number }>(
  counts: readonly C[],
): (C & { readonly groups?: number })[] {
  const totals = new Map<string, number>();
  for (const { group, n } of counts) totals.set(group, (totals.get(group) ?? 0) + n);
  if (totals.size <= GROUPS_MAX_OF_SEAL) return [...counts];
  const kept = new Set(
    [...totals]
      .toSorted(([name, n], [otherName, otherN]) => otherN - n || (name < otherName ? -1 : 1))
      .slice(0, GROUPS_MAX_OF_SEAL)
      .map(([group]) => group),
  );
  return counts.map((count) =>
    kept.has(count.group) ? count : { ...count, group: OTHER_GROUPS, groups: totals.size },
  );
}
