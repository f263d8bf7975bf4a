/** One small fault, put into a copy of the code to see whether the tests notice it. */
export interface Mutant {
  /** What would be wrong, in a few words. */
  readonly name: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Paths of the tests that are to notice it: files, or folders. */
  readonly tests: readonly string[];
}

/** The code with the fault in it; null when the place it belongs to is not there, or not once. */
export function mutated(code: string, { find, replace }: Mutant): string | null {
  const parts = code.split(find);
  return parts.length === 2 ? parts.join(replace) : null;
}
