import type { Cursor } from "./cursor.ts";
import type { Token } from "./token.ts";
import type { ColumnDeclaration, Identifier, NameExpression } from "./tree.ts";

/** Words that never are a name where a value belongs; `['by']` is one. */
const RESERVED: ReadonlySet<string> = new Set([
  "and",
  "or",
  "in",
  "in~",
  "has",
  "has_cs",
  "has_any",
  "has_all",
  "hasprefix",
  "hasprefix_cs",
  "hassuffix",
  "hassuffix_cs",
  "contains",
  "contains_cs",
  "startswith",
  "startswith_cs",
  "endswith",
  "endswith_cs",
  "like",
  "notlike",
  "like_cs",
  "notlike_cs",
  "between",
  "asc",
  "desc",
  "by",
]);

export function isReserved({ text, kind }: Token): boolean {
  return kind === "name" && RESERVED.has(text);
}

/** True when `ahead` a name stands, in brackets and quotes (`['a b']`, three tokens) or without (one token). */
export function nameLength(cursor: Cursor, ahead = 0): number {
  const token = cursor.peek(ahead);
  if (token.kind === "name") return 1;
  const isQuoted =
    token.text === "[" &&
    token.kind === "symbol" &&
    cursor.peek(ahead + 1).kind === "string" &&
    cursor.at("]", ahead + 2);
  return isQuoted ? 3 : 0;
}

/** A name where only a name can stand: any word will do. */
export function readName(cursor: Cursor, expected: string): Identifier {
  const start = cursor.index;
  const length = nameLength(cursor);
  if (length === 0) throw cursor.unexpected(expected);
  if (length === 1) return { name: cursor.next().text, span: cursor.spanFrom(start) };
  cursor.next();
  const name = cursor.next().value;
  cursor.next();
  return { name, span: cursor.spanFrom(start) };
}

/** A name, or a pattern of names such as `a*`, `*_id`, `*`: its pieces touch one another. */
export function readNamePattern(cursor: Cursor, expected: string): NameExpression {
  const start = cursor.index;
  if (nameLength(cursor) === 3)
    return cursor.made({ kind: "name", isPattern: false, ...readName(cursor, expected) });
  const length = patternLength(cursor);
  if (length === 0) throw cursor.unexpected(expected);
  const { text, hasStar } = readRun(cursor, length);
  return cursor.made({ kind: "name", name: text, isPattern: hasStar, span: cursor.spanFrom(start) });
}

/** How many of the next tokens make one name or pattern of names. */
export function patternLength(cursor: Cursor): number {
  let length = 0;
  while (isPatternPiece(cursor.peek(length)) && (length === 0 || cursor.isAdjacent(length))) length++;
  return length === 1 && cursor.peek().kind === "long" ? 0 : length;
}

function isPatternPiece({ kind, text }: Token): boolean {
  return kind === "name" || kind === "long" || (kind === "symbol" && text === "*");
}

/** The next tokens as one text. */
export function readRun(
  cursor: Cursor,
  length: number,
): { readonly text: string; readonly hasStar: boolean } {
  let text = "";
  let hasStar = false;
  for (let i = 0; i < length; i++) {
    const token = cursor.next();
    text += token.text;
    if (token.kind === "symbol" && token.text === "*") hasStar = true;
  }
  return { text, hasStar };
}

/** `(a: long, b: string)`, also with a comma behind the last one. */
export function readColumns(cursor: Cursor): ColumnDeclaration[] {
  const opening = cursor.expect("(", "before the columns");
  const columns: ColumnDeclaration[] = [];
  while (!cursor.at(")")) {
    const name = readName(cursor, "the name of a column");
    cursor.expect(":", `and a type after the column ${name.name}`);
    columns.push({ name, type: readName(cursor, "a type such as string or long") });
    if (cursor.accept(",") === null) break;
  }
  cursor.close(opening, "`,` or `)` after a column");
  return columns;
}
