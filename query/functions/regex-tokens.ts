import { isAscii } from "../case-folding.ts";

/** The most repetitions that RE2 takes, of repeated repetitions together. */
export const MAX_REGEX_REPETITIONS = 1000;

/** The size of a pattern in parts of RE2's machine; RE2 refuses at 350 000, which would be while a query runs. */
export const MAX_REGEX_SIZE = 200_000;

/** How deeply groups may be nested. */
export const MAX_REGEX_DEPTH = 100;

/** Thrown for a pattern that cannot be honoured; the message is for the user. */
export class RegexSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RegexSyntaxError";
  }
}

/** A class of characters in the syntax of RE2, and how large RE2's machine for it is. */
interface CharacterClass {
  readonly text: string;
  readonly size: number;
}

/** The members of \w. */
const WORDS: CharacterClass = {
  text:
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}" +
    "\\x{1F170}-\\x{1F189}\\x{200C}\\x{200D}",
  size: 1200,
};

/** The members of the classes that know every script. */
const CLASSES: Readonly<Record<string, CharacterClass>> = {
  d: { text: "\\p{Nd}", size: 100 },
  D: { text: "\\P{Nd}", size: 250 },
  s: {
    text: "\\t-\\r \\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}",
    size: 20,
  },
  S: {
    text:
      "\\x{0}-\\x{8}\\x{E}-\\x{1F}!-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}" +
      "\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{10FFFF}",
    size: 40,
  },
  w: WORDS,
};

/** The size of a class by the property of its characters. */
const PROPERTY_SIZE = 1000;

/** The size of a character, or of a range of them, when it is not of ASCII: more than any has. */
const WIDE_RANGE_SIZE = 20;

const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", a: "\x07" };

/** General categories and scripts that RE2 knows under the same name. */
const PROPERTY =
  /^(?:L|Lu|Ll|Lt|Lm|Lo|M|Mn|Mc|Me|N|Nd|Nl|No|P|Pc|Pd|Ps|Pe|Pi|Pf|Po|S|Sm|Sc|Sk|So|Z|Zs|Zl|Zp|Cc|Cf|Co|Greek|Latin|Cyrillic|Arabic|Hebrew|Han|Hiragana|Katakana|Hangul|Thai|Devanagari|Armenian|Georgian)$/;

/** Reads a pattern piece by piece. */
export class RegexTokens {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern.toWellFormed();
  }

  isAtEnd(): boolean {
    return this.#at >= this.#pattern.length;
  }

  sees(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at);
  }

  take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.#at += text.length;
    return true;
  }

  /** Takes what a sticky expression matches here. */
  match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#pattern);
    this.#at += match?.[0].length ?? 0;
    return match;
  }

  /** One character as it is or behind a backslash. */
  character(): string {
    if (!this.take("\\")) return this.match(/./suy)?.[0] ?? "";
    const code = this.match(
      /x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]{1,8})\}/y,
    );
    if (code !== null) return characterOf(code.slice(1).find((digits) => digits !== undefined) ?? "");
    const control = this.match(/[nrtfva]/y)?.[0];
    if (control !== undefined) return CONTROLS[control] ?? control;
    const mark = this.match(/[^\p{L}\p{N}<>]/uy)?.[0];
    if (mark !== undefined) return mark;
    const letter = this.match(/./suy)?.[0];
    if (letter === undefined) throw new RegexSyntaxError("the pattern ends with a backslash");
    if (/[1-9]/.test(letter))
      throw new RegexSyntaxError("references to groups are not supported in patterns");
    throw new RegexSyntaxError(`the escape \\${letter} is not supported in patterns`);
  }

  /** A class of characters, in brackets or by a letter behind a backslash; null when there is none here. */
  characterClass(): CharacterClass | null {
    const letter = this.match(/\\([dDsSwW])/y)?.[1];
    if (letter === "W") return bracketed("[^", WORDS);
    if (letter !== undefined) return bracketed("[", CLASSES[letter]);
    const property = this.#property();
    if (property !== null) return property;
    return this.take("[") ? this.#bracketClass() : null;
  }

  #property(): CharacterClass | null {
    const property = this.match(/\\[pP](?:\{\^?\w+\}|[A-Z])/y)?.[0];
    if (property === undefined) return null;
    if (!PROPERTY.test(property.replace(/^..\{?\^?|\}$/g, "")))
      throw new RegexSyntaxError(`the class ${property} is not supported in patterns`);
    return { text: property, size: PROPERTY_SIZE };
  }

  /** What follows on a [. */
  #bracketClass(): CharacterClass {
    const isNegated = this.take("^");
    const members: CharacterClass[] = [];
    let hasNonWords = false;
    for (let isFirst = true; isFirst || !this.take("]"); isFirst = false) {
      if (this.isAtEnd()) throw new RegexSyntaxError("the pattern has a [ without its ]");
      if (this.match(/\\W/y) !== null) hasNonWords = true;
      else members.push(this.#member());
    }
    const union = members.map(({ text }) => text).join("");
    const size = members.reduce((sum, member) => sum + member.size, 1);
    const negation = isNegated ? "^" : "";
    if (!hasNonWords) return { text: `[${negation}${union}]`, size };
    if (isNegated) throw new RegexSyntaxError("\\W is not supported in brackets that start with ^");
    const nonWords = bracketed("[^", WORDS);
    const both = union === "" ? nonWords.text : `(?:[${union}]|${nonWords.text})`;
    return { text: both, size: size + nonWords.size };
  }

  #member(): CharacterClass {
    const operator = this.match(/&&|~~|--/y)?.[0];
    if (operator !== undefined) throw new RegexSyntaxError(`${operator} is not supported in brackets`);
    const posix = this.match(/\[:\^?[a-z]+:\]/y)?.[0];
    if (posix !== undefined) return { text: posix, size: WIDE_RANGE_SIZE };
    if (this.sees("["))
      throw new RegexSyntaxError("brackets in brackets are not supported: write \\[ for the character");
    const letter = this.match(/\\([dDsSw])/y)?.[1];
    if (letter !== undefined) return CLASSES[letter] ?? { text: "", size: 0 };
    const property = this.#property();
    if (property !== null) return property;
    const first = this.character();
    const isRange = this.match(/-(?!\]|-|\\[dDsSwWpP])/y) !== null;
    if (!isRange) return { text: member(first), size: sizeUpTo(first) };
    const last = this.character();
    if ((first.codePointAt(0) ?? 0) > (last.codePointAt(0) ?? 0))
      throw new RegexSyntaxError(`the range ${first}-${last} is in the wrong order`);
    return { text: `${member(first)}-${member(last)}`, size: sizeUpTo(last) };
  }
}

/** The size of a character in RE2's machine, or of a range that ends with it. */
export function sizeUpTo(character: string): number {
  return isAscii(character) ? 1 : WIDE_RANGE_SIZE;
}

function bracketed(opening: string, characterClass: CharacterClass | undefined): CharacterClass {
  return { text: `${opening}${characterClass?.text}]`, size: (characterClass?.size ?? 0) + 1 };
}

/** A character in brackets: a letter or a digit as it is, anything else by its number. */
function member(character: string): string {
  return /^[A-Za-z0-9]$/.test(character) ? character : `\\x{${character.codePointAt(0)?.toString(16)}}`;
}

function characterOf(digits: string): string {
  const code = Number.parseInt(digits, 16);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    throw new RegexSyntaxError(`${digits} is the number of no character`);
  return String.fromCodePoint(code);
}
