/** A row as a file says it: what it is called there, and what is to be known of it. */
export interface FileRow {
  /** For whoever sent it: `row 3`, `/objects/4`. */
  readonly place: string;
  /** As the format names types; empty where it does not say. */
  readonly type: string;
  readonly value: string;
  readonly severity?: string | undefined;
  readonly description?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly confidence?: string | undefined;
  readonly source?: string | undefined;
  /** Why it is no indicator, where the format says so itself. */
  readonly refusal?: string;
}
