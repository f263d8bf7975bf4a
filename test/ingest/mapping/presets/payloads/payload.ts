/** What a product sends, what its preset makes of it, and what inference should find without knowing the product. */
export interface Payload {
  readonly preset: string;
  /** A JSON value, or a text as it comes. */
  readonly body: unknown;
  readonly entry: ExpectedEntry;
  readonly right: Right;
}

/** The first entry; fields that are left out are not there, and of the attributes only these are looked at. */
interface ExpectedEntry {
  readonly ts: string | null;
  readonly message: string;
  readonly level?: string;
  readonly service?: string;
  readonly source?: string;
  readonly host?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly event_id?: string;
  readonly attrs: Readonly<Record<string, unknown>>;
}

/**
 * The path a person would name for each field: alternatives with `|` between them, "" where there is none, "{}" for a
 * message put together of several.
 */
export interface Right {
  readonly timestamp: string;
  readonly message: string;
  readonly level: string;
  readonly service: string;
  readonly host: string;
}

/** A time without the zeros at its end: how many of them are shown is not what these tests are about. */
export function exactTime(ts: string | null | undefined): string | null {
  return ts?.replace(/(\.\d*?)0+Z$/, "$1Z").replace(".Z", "Z") ?? null;
}
