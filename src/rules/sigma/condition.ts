import { TESTS_MAX_COUNT } from "./limits.ts";
import { type Place, SigmaRefusal } from "./problem.ts";
import { allOfTrees, anyOfTrees, type SigmaTree } from "./tree.ts";

/** A selection of a rule. */
interface Selection {
  readonly tree: SigmaTree;
  /** Tests that it has. */
  readonly tests: number;
}

/** Selections of a rule by their names. */
export type Selections = ReadonlyMap<string, Selection>;

const TOKEN = /\s*(\(|\)|[^\s()]+)/gy;

/**
 * What a condition says of selections: `and`, `or`, `not`, brackets, and `1 of`, `all of` with a name, a pattern of names or
 * `them`. Source: Sigma specification 2, "Condition". Throws SigmaRefusal.
 */
export function readCondition(text: string, selections: Selections, place: Place): Selection {
  const tokens = [...text.matchAll(TOKEN)].map(([, token = ""]) => token);
  let at = 0;
  const refuse = (message: string): never => {
    throw new SigmaRefusal(place, message);
  };
  let tests = 0;
  const treeOf = (selection: Selection): SigmaTree => {
    tests += selection.tests;
    return tests > TESTS_MAX_COUNT ? refuse(`asks for more than ${TESTS_MAX_COUNT} values.`) : selection.tree;
  };
  const peek = (): string => (tokens[at] ?? "").toLowerCase();
  const next = (): string => tokens[at++] ?? refuse("ends too early.");
  const any = (depth: number): SigmaTree => {
    const parts = [all(depth)];
    while (peek() === "or") {
      at++;
      parts.push(all(depth));
    }
    return anyOfTrees(parts);
  };
  const all = (depth: number): SigmaTree => {
    const parts = [one(depth)];
    while (peek() === "and") {
      at++;
      parts.push(one(depth));
    }
    return allOfTrees(parts);
  };
  const one = (depth: number): SigmaTree => {
    if (depth === 0) refuse("is nested too deep.");
    const token = next();
    const word = token.toLowerCase();
    if (word === "not") return { kind: "not", part: one(depth - 1) };
    if (token === "(") {
      const inner = any(depth - 1);
      if (next() !== ")") refuse("has a bracket that is not closed.");
      return inner;
    }
    if (peek() === "of" && /^(?:1|any|all)$/.test(word)) {
      at++;
      const named = namedBy(next(), selections);
      if (named.length === 0) refuse(`names no selection with \`${token} of ${tokens[at - 1]}\`.`);
      return word === "all" ? allOfTrees(named.map(treeOf)) : anyOfTrees(named.map(treeOf));
    }
    if (peek() === "of") refuse("asks for a number of selections, of which only 1 and all can be told.");
    return treeOf(selections.get(token) ?? refuse(`names the selection \`${token}\`, which there is not.`));
  };
  const tree = any(DEPTH_MAX);
  if (at < tokens.length) refuse(`says \`${tokens[at]}\` where \`and\`, \`or\` or its end is expected.`);
  return { tree, tests };
}

/** Brackets and negations inside one another: the stack of whoever reads them. */
const DEPTH_MAX = 32;

function namedBy(name: string, selections: Selections): Selection[] {
  const isThem = name.toLowerCase() === "them";
  const parts = name.split("*");
  return [...selections].flatMap(([own, selection]) => {
    // What begins with an underscore is a part for others and none of `them`.
    const isNamed = isThem ? !own.startsWith("_") : hasParts(own, parts);
    return isNamed ? [selection] : [];
  });
}

/** Whether a name is the parts in their order, with anything between two of them. */
function hasParts(name: string, parts: readonly string[]): boolean {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}
