/** What the first entry that a replay makes of a record is called, as its `event_id`. */
export function entryName(entryKey: string): string {
  return `quarantine-${entryKey}`;
}
