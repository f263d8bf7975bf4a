/** JSON.parse source text access (ECMAScript 2026), which the compiler's library does not know yet. */
interface JSON {
  /** A value that JSON.stringify writes as exactly this text, which must be a JSON primitive. */
  rawJSON(text: string): unknown;
  /** Whether a value was made by `rawJSON`. */
  isRawJSON(value: unknown): boolean;
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
}
