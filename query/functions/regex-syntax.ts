import { escapePattern } from "./needles.ts";
import {
  MAX_REGEX_DEPTH,
  MAX_REGEX_REPETITIONS,
  MAX_REGEX_SIZE,
  RegexSyntaxError,
  RegexTokens,
  sizeUpTo,
} from "./regex-tokens.ts";

/** The size of any character in RE2's machine. */
const ANY_CHARACTER_SIZE = 10;

/** A pattern in Kusto's syntax, as RE2 reads it. */
export interface RegexPattern {
  /** The same in the syntax of RE2, whatever its options say of the dot and of new lines. */
  readonly text: string;
  /** Capturing groups; they are counted from 1. */
  readonly groupCount: number;
  readonly groupNames: ReadonlyMap<string, number>;
  /** The longest text that every match holds, of those that stand outside of groups and choices; may be empty. */
  readonly requiredText: string;
}

interface Flags {
  readonly dotAll: boolean;
  readonly extended: boolean;
  readonly ignoresCase: boolean;
}

interface Part {
  readonly text: string;
  readonly size: number;
  /** How often the innermost part is repeated, at most, by counted repetitions. */
  readonly repetitions: number;
  /** The part when it is one character that is matched as it is. */
  readonly character?: string;
}

/**
 * Reads a pattern: the classes of Kusto know every script, those of RE2 only ASCII. Throws a RegexSyntaxError for what
 * Kusto refuses, and for what RE2 cannot do.
 */
export function readRegex(pattern: string): RegexPattern {
  return new RegexReader(pattern).read();
}

class RegexReader {
  readonly #tokens: RegexTokens;
  readonly #names = new Map<string, number>();
  #depth = 0;
  #groups = 0;
  #flags: Flags = { dotAll: false, extended: false, ignoresCase: false };

  constructor(pattern: string) {
    this.#tokens = new RegexTokens(pattern);
  }

  read(): RegexPattern {
    const runs: string[] = [];
    const { text, size } = this.#alternatives(runs);
    if (!this.#tokens.isAtEnd()) throw new RegexSyntaxError("the pattern has a ) without its (");
    if (size > MAX_REGEX_SIZE) throw new RegexSyntaxError("the pattern is too large");
    const requiredText = runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
    return { text, groupCount: this.#groups, groupNames: this.#names, requiredText };
  }

  /** `runs` collects the texts that every match holds, when there is one alternative. Flags last to the end of it. */
  #alternatives(runs: string[] = []): Part {
    if (++this.#depth > MAX_REGEX_DEPTH)
      throw new RegexSyntaxError("the groups of the pattern are nested too deeply");
    const outer = this.#flags;
    const found: string[] = [];
    const alternatives = [this.#sequence(found)];
    while (this.#tokens.take("|")) alternatives.push(this.#sequence([]));
    if (alternatives.length === 1) runs.push(...found);
    this.#flags = outer;
    this.#depth--;
    return join(alternatives, "|");
  }

  #sequence(runs: string[]): Part {
    const parts: Part[] = [];
    let run = "";
    while (!this.#tokens.isAtEnd() && !this.#tokens.sees("|") && !this.#tokens.sees(")")) {
      if (this.#skipsExtended()) continue;
      const part = this.#repeated(this.#atom());
      parts.push(part);
      if (part.character !== undefined && !this.#flags.ignoresCase) run += part.character;
      else if (run !== "") {
        runs.push(run);
        run = "";
      }
    }
    if (run !== "") runs.push(run);
    return join(parts, "");
  }

  /** White space and comments, which mean nothing under the flag x. */
  #skipsExtended(): boolean {
    return this.#flags.extended && this.#tokens.match(/(?:\s+|#[^\n]*)+/y) !== null;
  }

  #repeated(atom: Part): Part {
    let part = atom;
    for (;;) {
      this.#skipsExtended();
      const quantifier = this.#tokens.match(/[*+?]|\{\d{1,9}(?:,\d{0,9})?\}/y)?.[0];
      if (quantifier === undefined) return part;
      const lazy = this.#tokens.take("?") ? "?" : "";
      const [least = 0, most = least] = quantifier.match(/\d+/g)?.map(Number) ?? [];
      if (least > most) throw new RegexSyntaxError(`the bounds of ${quantifier} are in the wrong order`);
      const repetitions = part.repetitions * Math.max(1, most);
      if (repetitions > MAX_REGEX_REPETITIONS)
        throw new RegexSyntaxError(`the pattern repeats a part more than ${MAX_REGEX_REPETITIONS} times`);
      const body = part === atom ? part.text : `(?:${part.text})`;
      part = { text: body + quantifier + lazy, size: part.size * Math.max(1, most) + 1, repetitions };
    }
  }

  #atom(): Part {
    if (this.#tokens.take("(")) return this.#group();
    if (this.#tokens.take(".")) return part(this.#flags.dotAll ? "(?s:.)" : "[^\\n]", ANY_CHARACTER_SIZE);
    const anchor = this.#tokens.match(/[$^]|\\[bBAz](?!\{)/y)?.[0];
    if (anchor !== undefined) return part(anchor);
    const quantifier = this.#tokens.match(/[*+?]/y)?.[0];
    if (quantifier !== undefined) throw new RegexSyntaxError(`there is nothing for ${quantifier} to repeat`);
    const characterClass = this.#tokens.characterClass();
    if (characterClass !== null) return part(characterClass.text, characterClass.size);
    const character = this.#tokens.character();
    return { ...part(escapePattern(character), sizeUpTo(character)), character };
  }

  #group(): Part {
    if (this.#tokens.match(/\?(?:<?[=!]|>)/y) !== null)
      throw new RegexSyntaxError("look-around and atomic groups are not supported in patterns");
    const name = this.#tokens.match(/\?P?<([A-Za-z_]\w*)>/y)?.[1];
    if (name === undefined && this.#tokens.take("?")) return this.#flagged();
    this.#groups++;
    if (name !== undefined) {
      if (this.#names.has(name)) throw new RegexSyntaxError(`two groups of the pattern are named ${name}`);
      this.#names.set(name, this.#groups);
    }
    return this.#closed("(");
  }

  /** What follows on `(?`: a group that captures nothing, or flags for the rest of the group around. */
  #flagged(): Part {
    const [, on = "", off = "", end] = this.#tokens.match(/([imsUxu]*)(?:-([imsUx]+))?([:)])/y) ?? [];
    if (end === undefined) throw new RegexSyntaxError("what follows on (? is not supported in patterns");
    const outer = this.#flags;
    const flag = (letter: string, before: boolean) =>
      (before || on.includes(letter)) && !off.includes(letter);
    this.#flags = {
      dotAll: flag("s", outer.dotAll),
      extended: flag("x", outer.extended),
      ignoresCase: flag("i", outer.ignoresCase),
    };
    const kept = (flags: string) => flags.replace(/[sxu]/g, "");
    const flags = kept(on) + (kept(off) === "" ? "" : `-${kept(off)}`);
    if (end === ")") {
      this.#skipsExtended();
      if (this.#tokens.match(/(?=[*+?]|\{\d)/y) !== null)
        throw new RegexSyntaxError("there is nothing to repeat behind the flags of the pattern");
      return part(flags === "" ? "" : `(?${flags})`);
    }
    const group = this.#closed(`(?${flags}:`);
    this.#flags = outer;
    return group;
  }

  #closed(opening: string): Part {
    const { text, size, repetitions } = this.#alternatives();
    if (!this.#tokens.take(")")) throw new RegexSyntaxError("the pattern has a ( without its )");
    return { text: `${opening}${text})`, size, repetitions };
  }
}

function part(text: string, size = 1): Part {
  return { text, size, repetitions: 1 };
}

/** Several parts as one. */
function join(parts: readonly Part[], separator: string): Part {
  return {
    text: parts.map(({ text }) => text).join(separator),
    size: parts.reduce((sum, { size }) => sum + size, 1),
    repetitions: parts.reduce((most, { repetitions }) => Math.max(most, repetitions), 1),
  };
}
