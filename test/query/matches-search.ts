import { parseSearch } from "../../query/index.ts";

type Condition = Exclude<Extract<ReturnType<typeof parseSearch>, { ok: true }>["condition"], null>;

/**
 * What `q` means, said without the store: a second, independent reading of the same definition. A letter is what its
 * upper case becomes in lower case, where either mapping is one character and does not lead into ASCII.
 */
export function matchesSearch(q: string, message: string): boolean {
  const parsed = parseSearch(q);
  if (!parsed.ok) throw parsed.error;
  return parsed.condition === null || holds(parsed.condition, fold(message));
}

function holds(condition: Condition, folded: string): boolean {
  switch (condition.kind) {
    case "text":
      return folded.includes(fold(condition.text));
    case "not":
      return !holds(condition.operand, folded);
    case "all":
      return condition.operands.every((operand) => holds(operand, folded));
    case "any":
      return condition.operands.some((operand) => holds(operand, folded));
  }
}

function fold(text: string): string {
  return Array.from(text.toWellFormed(), foldOne).join("");
}

function foldOne(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 128) return code >= 65 && code <= 90 ? String.fromCharCode(code + 32) : character;
  const upper = [...character.toUpperCase()].length === 1 ? character.toUpperCase() : character;
  const lower = [...upper.toLowerCase()].length === 1 ? upper.toLowerCase() : upper;
  return (lower.codePointAt(0) ?? 0) < 128 ? character : lower;
}
