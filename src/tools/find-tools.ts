import { QUESTION_WORDS_MAX } from "./limits.ts";
import type { ToolDefinition } from "./tool-definition.ts";

/** Saturation of repeated words and the share of a text's length, as usual (Robertson and Zaragoza 2009, 3.2). */
const K1 = 1.2;
const B = 0.3;
/** How much a word counts by where it stands: what a tool is called and does, then when it is the right one. */
const WEIGHTS = { title: 2, name: 1, useWhen: 1.5 } as const;

/** What of a tool is looked at. */
type Described = Pick<ToolDefinition, "name" | "title" | "useWhen">;

interface Document<T> {
  readonly tool: T;
  /** How often a word occurs, weighted. */
  readonly words: ReadonlyMap<string, number>;
  readonly length: number;
}

/** Finds tools by what they are called and what they say of themselves: BM25 over stems of words. */
export class ToolFinder<T extends Described> {
  readonly #documents: readonly Document<T>[];
  readonly #averageLength: number;
  readonly #rarity: ReadonlyMap<string, number>;

  constructor(tools: readonly T[]) {
    this.#documents = tools.map(documentOf);
    const count = Math.max(1, tools.length);
    this.#averageLength = this.#documents.reduce((sum, { length }) => sum + length, 0) / count;
    const holders = new Map<string, number>();
    for (const { words } of this.#documents)
      for (const word of words.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
    this.#rarity = new Map(
      [...holders].map(([word, n]) => [word, Math.log(1 + (count - n + 0.5) / (n + 0.5))]),
    );
  }

  /** The tools that answer a question, the best first; those that share no word with it are left out. */
  find(question: string): T[] {
    const asked = new Set(stemsOf(question).slice(0, QUESTION_WORDS_MAX));
    return this.#documents
      .map((document) => ({ tool: document.tool, score: this.#score(document, asked) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
      .map(({ tool }) => tool);
  }

  #score({ words, length }: Document<T>, asked: ReadonlySet<string>): number {
    const norm = K1 * (1 - B + (B * length) / this.#averageLength);
    let score = 0;
    for (const word of asked) {
      const times = words.get(word) ?? 0;
      if (times > 0) score += (this.#rarity.get(word) ?? 0) * ((times * (K1 + 1)) / (times + norm));
    }
    return score;
  }
}

function documentOf<T extends Described>(tool: T): Document<T> {
  const words = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number): void => {
    for (const word of stemsOf(text)) {
      words.set(word, (words.get(word) ?? 0) + weight);
      length += weight;
    }
  };
  add(tool.title, WEIGHTS.title);
  add(tool.name, WEIGHTS.name);
  add(tool.useWhen ?? "", WEIGHTS.useWhen);
  return { tool, words, length };
}

/** They stand in every question and in every description and tell nothing apart. */
const STOP_WORDS = new Set(
  "a an and any are as at be before by can did do does each every for from get had has have how i in is it its last many me most much my new of on one or our show since so than that the their them then there these they this to us use was we were what when where which who whom whose why will with you your".split(
    " ",
  ),
);

/** The words of a text, of names in camel case their parts, without endings. */
function stemsOf(text: string): string[] {
  return text
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word))
    .map(stemOf);
}

/** Without the endings by which the same word differs in number and tense; crude, and the same on both sides. */
function stemOf(word: string): string {
  const stem = word
    .replace(/ies$/, "y")
    .replace(/(s|x|ch|sh)es$/, "$1")
    .replace(/([^s])s$/, "$1")
    .replace(/(?:ion|ing|ed|er)$/, "");
  return (stem.length < 3 ? word : stem).replace(/e$/, "");
}
