import { generalize } from "./generalize.ts";
import { EXAMPLES_MAX_COUNT } from "./limits.ts";
import { renderTemplate } from "./template.ts";
import { Tokenizer, VALUE_MARK } from "./tokenizer.ts";

interface MinedPattern {
  /** The text that its messages share, `<*>` where they differ. */
  readonly template: string;
  /** What `add` answered for the messages of the pattern. */
  readonly forms: readonly number[];
}

interface KnownForm {
  readonly tokens: readonly string[];
  /** Four of its messages, the same whatever order they came in: first and last, shortest and longest. */
  least: string;
  greatest: string;
  shortest: string;
  longest: string;
}

/**
 * Finds the patterns that messages were made from. Add every message, or one of each form, then ask. Patterns and
 * templates depend on the set of messages alone: neither their order nor how often each one occurs changes them.
 */
export class PatternMiner {
  readonly #tokenizer = new Tokenizer();
  readonly #ids = new Map<string, number>();
  readonly #forms: KnownForm[] = [];

  /** Different forms so far: what memory and the time of `patterns` grow with. */
  get formCount(): number {
    return this.#forms.length;
  }

  /** The number of the form of a message, counted from 0; the same for messages that differ in their values alone. */
  add(message: string): number {
    this.#tokenizer.read(message);
    const text = this.#tokenizer.form();
    const id = this.#ids.get(text);
    const known = id === undefined ? undefined : this.#forms[id];
    if (id === undefined || known === undefined) {
      this.#ids.set(text, this.#forms.length);
      const tokens = this.#tokenizer.tokens();
      return (
        this.#forms.push({ tokens, least: message, greatest: message, shortest: message, longest: message }) -
        1
      );
    }
    keepExtremes(known, message);
    return id;
  }

  patterns(): MinedPattern[] {
    const { patternOf, patterns } = generalize(this.#forms.map(({ tokens }) => tokens));
    const formsOf: number[][] = patterns.map(() => []);
    for (const [form, pattern] of patternOf.entries()) formsOf[pattern]?.push(form);
    return patterns.map((pattern, i) => {
      const forms = formsOf[i] ?? [];
      // Stragglers have other tokens than the pattern, in other places.
      const aligned = forms.filter((form) => this.#forms[form]?.tokens.length === pattern.length);
      return {
        forms,
        template: renderTemplate(
          pattern,
          (place) => this.#hasWordAt(aligned, place),
          this.#examplesOf(aligned),
        ),
      };
    });
  }

  #hasWordAt(forms: readonly number[], place: number): boolean {
    return forms.some((form) => this.#forms[form]?.tokens[place] !== VALUE_MARK);
  }

  #examplesOf(forms: readonly number[]): string[] {
    const extremes = new Set<string>();
    for (const form of forms) {
      const known = this.#forms[form];
      if (known === undefined) continue;
      for (const example of [known.least, known.greatest, known.shortest, known.longest])
        extremes.add(example);
    }
    const sorted = [...extremes].sort();
    const step = Math.max(1, sorted.length / EXAMPLES_MAX_COUNT);
    return Array.from(
      { length: Math.min(EXAMPLES_MAX_COUNT, sorted.length) },
      (_, i) => sorted[Math.floor(i * step)] ?? "",
    );
  }
}

function keepExtremes(known: KnownForm, message: string): void {
  if (message < known.least) known.least = message;
  else if (message > known.greatest) known.greatest = message;
  const { shortest, longest } = known;
  if (message.length < shortest.length || (message.length === shortest.length && message < shortest))
    known.shortest = message;
  if (message.length > longest.length || (message.length === longest.length && message > longest))
    known.longest = message;
}
