export const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type Level = (typeof LEVELS)[number];

/** Fields given to every entry that does not bring its own. */
export interface EntryDefaults {
  service?: string;
  source?: string;
  host?: string;
  level?: Level;
}

/** An entry as JSON, and what is known of it here; a null `timeMs` is the time of receipt. */
export interface WrittenEntry {
  readonly text: string;
  readonly timeMs: number | null;
  readonly level: string | null;
  readonly service: string | null;
  readonly source: string | null;
}
