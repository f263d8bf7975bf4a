import { show } from "./cursor.ts";
import type { Parser } from "./grammar.ts";
import { nameLength, readName } from "./names.ts";
import type { Argument, Expression, Parameter, SortItem } from "./tree.ts";

/** Words in front of `=` that say how an operator works; `hint.anything` is one as well. */
const PARAMETERS: ReadonlySet<string> = new Set([
  "kind",
  "flags",
  "withsource",
  "with_source",
  "isfuzzy",
  "bagexpansion",
  "with_itemindex",
  "decodeblocks",
  "expandoutput",
  "nooptimization",
  "datascope",
]);

/** `kind = inner hint.strategy = broadcast ...` */
export function readParameters(parser: Parser): Parameter[] {
  const { cursor } = parser;
  const parameters: Parameter[] = [];
  for (;;) {
    const isHint = cursor.at("hint") && cursor.at(".", 1) && cursor.at("=", 3);
    const isParameter = isHint || (PARAMETERS.has(cursor.peek().text) && cursor.at("=", 1));
    if (!isParameter) return parameters;
    const start = cursor.index;
    let name = cursor.next().text;
    if (isHint) {
      cursor.next();
      name = `hint.${cursor.next().text}`;
    }
    const span = cursor.spanFrom(start);
    cursor.next();
    parameters.push({ name: { name, span }, value: readParameterValue(parser) });
  }
}

/** A word, which stands for itself, or a literal. */
export function readParameterValue(parser: Parser): Expression {
  const { cursor } = parser;
  const isLiteral = ["dynamic", "true", "false"].includes(cursor.peek().text.toLowerCase());
  if (isLiteral || nameLength(cursor) === 0) return parser.operand();
  return cursor.made({ kind: "name", isPattern: false, ...readName(cursor, "a value") });
}

/** `name = value, ...`, up to a bracket or the end of the operator. */
export function readOptions(parser: Parser): Parameter[] {
  const { cursor } = parser;
  const options: Parameter[] = [];
  do {
    if (nameLength(cursor) === 0) break;
    const name = readName(cursor, "a property");
    cursor.expect("=", `after the property ${show(name.name)}`);
    options.push({ name, value: parser.expression() });
  } while (cursor.accept(",") !== null);
  return options;
}

/** One or more of what `read` reads, with commas between. */
export function readList<Item>({ cursor }: Parser, read: () => Item): Item[] {
  const items = [read()];
  while (cursor.accept(",") !== null) items.push(read());
  return items;
}

/** Arguments with commas between; none where a word of `ends`, a pipe or the end comes first. */
export function readArguments(parser: Parser, ends: readonly string[] = []): Argument[] {
  const { cursor } = parser;
  return isOperatorEnd(parser) || ends.some((end) => cursor.at(end))
    ? []
    : readList(parser, () => parser.argument());
}

export function isOperatorEnd({ cursor }: Parser): boolean {
  return cursor.isAtEnd() || ["|", ";", ")", "}", "]"].some((symbol) => cursor.at(symbol));
}

export function readSortItem(parser: Parser): SortItem {
  const { cursor } = parser;
  const start = cursor.index;
  const { names, value: expression } = parser.argument();
  if (names.length > 0)
    throw cursor.failure(
      "A sort key cannot be named here; name it with extend.",
      names[0]?.span ?? expression.span,
    );
  const direction = readDirection(parser);
  let nulls: "first" | "last" | null = null;
  if (cursor.accept("nulls") !== null) {
    if (cursor.accept("first") !== null) nulls = "first";
    else {
      cursor.expect("last", "or `first` after nulls");
      nulls = "last";
    }
  }
  return { expression, direction, nulls, span: cursor.spanFrom(start) };
}

export function readDirection({ cursor }: Parser): "asc" | "desc" | null {
  if (cursor.accept("asc") !== null) return "asc";
  return cursor.accept("desc") === null ? null : "desc";
}
