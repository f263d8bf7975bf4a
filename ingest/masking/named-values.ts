import { type CutEnd, endOfValue } from "./end-of-value.ts";
import type { MaskedSpan } from "./mask-pattern.ts";

/**
 * What stands between a name and its value: quotes around the name, which JSON in a text of JSON escapes, and `=`, `:`, `=>`,
 * `:=` and the like. Encoders of JSON write `>` as an escape. Each part has a bound, so that the time for a name has one.
 */
const SEPARATOR = "\\\\{0,7}[\"'`]{0,2}[ \\t]{0,32}[=:]{1,3}(?:>|\\\\{1,7}u003[eE])?[ \\t]{0,32}";

/** Finds values behind some names: `name=…`, `"name": "…"`, `--name='…'`, `name => […]`; not what only mentions one. */
export class NamedValues {
  readonly #names: RegExp;
  readonly #replacement: string;
  readonly #cutEnd: CutEnd;

  /** `names`: the source of a regular expression, whose matches must have a bound; `replacement`: what stands for each value. */
  constructor(names: string, replacement: string, cutEnd: CutEnd) {
    this.#names = new RegExp(`(?:${names})${SEPARATOR}`, "g");
    this.#replacement = replacement;
    this.#cutEnd = cutEnd;
  }

  /** The spans of the values, without those that were replaced already. */
  in(text: string): MaskedSpan[] {
    const names = this.#names;
    const replacement = this.#replacement;
    const spans: MaskedSpan[] = [];
    names.lastIndex = 0;
    while (names.test(text)) {
      const start = names.lastIndex;
      if (text.startsWith(replacement, start)) continue;
      const end = endOfValue(text, start, this.#cutEnd);
      if (end === start) continue;
      spans.push({ start, end, replacement });
      // What looks like a name inside of a value is part of it: nothing is read twice.
      names.lastIndex = end;
    }
    return spans;
  }
}
