import type { SyntaxFailure } from "./cursor.ts";
import { readDynamic } from "./dynamic-literal.ts";
import type { Parser } from "./grammar.ts";
import { TYPED_LITERALS } from "./lex.ts";
import { LITERAL_TYPES, readLiteral } from "./literals.ts";
import { isReserved, nameLength, readColumns, readName } from "./names.ts";
import type { Argument, CallExpression, Expression, Identifier } from "./tree.ts";

const LONG_MIN_SIZE = "9223372036854775808";

/** A sign, a value, and the paths and indexes behind it. */
export function readOperand(parser: Parser): Expression {
  const { cursor } = parser;
  const start = cursor.index;
  const sign = cursor.accept("-") ?? cursor.accept("+");
  if (sign === null) return readPath(parser);
  // The smallest long has no positive counterpart.
  if (sign.text === "-" && cursor.peek().text === LONG_MIN_SIZE) {
    cursor.next();
    return cursor.made({
      kind: "literal",
      type: "long",
      value: -BigInt(LONG_MIN_SIZE),
      span: cursor.spanFrom(start),
    });
  }
  const operand = readPath(parser);
  const operator = sign.text === "-" ? "-" : "+";
  return cursor.made({ kind: "unary", operator, operand, span: cursor.spanFrom(start) }, operand);
}

function readPath(parser: Parser): Expression {
  const { cursor } = parser;
  const start = cursor.index;
  let base = readPrimary(parser);
  for (;;) {
    if (cursor.at(".")) {
      cursor.next();
      base = readMember(parser, base, start);
    } else if (cursor.at("[") && !isText(base)) {
      base = readIndex(parser, base, start);
    } else {
      return base;
    }
  }
}

/** A text has no parts: a bracket behind it is the next part of a pattern, `parse x with "from " ['the name']`. */
function isText(base: Expression): boolean {
  return base.kind === "literal" && base.type === "string";
}

function readMember(parser: Parser, base: Expression, start: number): Expression {
  const { cursor } = parser;
  if (cursor.at("[") && nameLength(cursor) === 0) return readIndex(parser, base, start);
  if (cursor.peek().kind === "name" && cursor.at("(", 1))
    throw cursor.failure(
      `${cursor.peek().text}() behind a dot is not supported: other clusters and databases are out of reach.`,
      cursor.peek().span,
      null,
      "UNSUPPORTED",
    );
  const member = readName(cursor, "a name after the dot");
  return cursor.made({ kind: "member", base, member, span: cursor.spanFrom(start) }, base);
}

function readIndex(parser: Parser, base: Expression, start: number): Expression {
  const { cursor } = parser;
  const opening = cursor.next();
  const index = parser.expression();
  cursor.close(opening, "`]` after the index");
  return cursor.made({ kind: "index", base, index, span: cursor.spanFrom(start) }, base, index);
}

function readPrimary(parser: Parser): Expression {
  const { cursor } = parser;
  const start = cursor.index;
  const token = cursor.peek();
  if (token.kind === "typed" && (token.text === "datetime" || token.text === "date") && token.value === "")
    return readNow(parser);
  const literal = readLiteral(cursor);
  if (literal !== null) return literal;
  if (cursor.at("*")) {
    cursor.next();
    return cursor.made({ kind: "star", span: token.span });
  }
  if (cursor.at("(")) {
    cursor.next();
    const inner = parser.pipeline();
    cursor.close(token, "`)` or an operator");
    return inner;
  }
  if (nameLength(cursor) === 0 || isReserved(token)) throw cursor.unexpected("a value");
  if (token.kind === "name" && (cursor.at("(", 1) || cursor.at("kind", 1) || token.text === "datatable"))
    return readCallLike(parser);
  return cursor.made({
    kind: "name",
    isPattern: false,
    ...readName(cursor, "a name"),
    span: cursor.spanFrom(start),
  });
}

/** `datetime()` is the time of the query. */
function readNow({ cursor }: Parser): CallExpression {
  const { span } = cursor.next();
  return cursor.made({ kind: "call", name: { name: "now", span }, arguments: [], span });
}

/** What begins with a name and a bracket. */
function readCallLike(parser: Parser): Expression {
  const { cursor } = parser;
  const start = cursor.index;
  const { text } = cursor.peek();
  if (cursor.at("(", 1)) {
    if (text === "dynamic") return readDynamic(cursor);
    if (text === "datatable") return readDatatable(parser);
    if (text === "externaldata" || text === "external_data") return readExternalData(parser);
    if (text === "typeof") {
      cursor.next();
      const opening = cursor.next();
      const type = readName(cursor, "a type such as string or long");
      cursor.close(opening, "`)` after the type");
      return cursor.made({ kind: "type", type, span: cursor.spanFrom(start) });
    }
    if (TYPED_LITERALS.has(text)) throw notALiteral(parser, text);
    return readCall(parser);
  }
  if (QUERY_FUNCTIONS.has(text) && cursor.at("kind", 1) && cursor.at("=", 2)) return readCall(parser);
  return cursor.made({ kind: "name", isPattern: false, ...readName(cursor, "a name") });
}

function notALiteral({ cursor }: Parser, type: string): SyntaxFailure {
  const conversion = `to${LITERAL_TYPES[type] ?? type}`;
  const message = `${type}(...) takes a literal; ${conversion}(...) converts a value.`;
  return cursor.failure(message, cursor.peek().span, conversion);
}

/** Functions that take a whole query without brackets of its own. */
const QUERY_FUNCTIONS: ReadonlySet<string> = new Set(["toscalar", "totable", "materialize"]);

/** `name(arguments)`; `toscalar kind=nooptimization (...)` says how to run it, which is left out. */
export function readCall(parser: Parser): CallExpression {
  const { cursor } = parser;
  const start = cursor.index;
  const name = readName(cursor, "the name of a function");
  if (cursor.at("kind")) for (let i = 0; i < 3; i++) cursor.next();
  const opening = cursor.expect("(", `after ${name.name}`);
  const callArguments: Argument[] = [];
  if (!cursor.at(")")) {
    const isQuery = QUERY_FUNCTIONS.has(name.name);
    do callArguments.push(isQuery ? readQueryArgument(parser) : parser.argument());
    while (cursor.accept(",") !== null);
  }
  cursor.close(opening, "`,` or `)` after an argument");
  const values = callArguments.map(({ value }) => value);
  return cursor.made(
    { kind: "call", name, arguments: callArguments, span: cursor.spanFrom(start) },
    ...values,
  );
}

function readQueryArgument(parser: Parser): Argument {
  const { cursor } = parser;
  const start = cursor.index;
  const value = parser.pipeline();
  return { names: [], value, span: cursor.spanFrom(start) };
}

/** `[name =] value`, or `(a, b) = value`. */
export function readArgument(parser: Parser): Argument {
  const { cursor } = parser;
  const start = cursor.index;
  const names = readAssignedNames(parser);
  const value = parser.expression();
  return { names, value, span: cursor.spanFrom(start) };
}

function readAssignedNames({ cursor }: Parser): Identifier[] {
  const length = nameLength(cursor);
  if (length > 0) {
    if (!cursor.at("=", length)) return [];
    const name = readName(cursor, "a name");
    cursor.next();
    return [name];
  }
  const behind = cursor.at("(") ? cursor.behindBracket() : null;
  if (behind === null || !cursor.at("=", behind - cursor.index)) return [];
  const opening = cursor.next();
  const names: Identifier[] = [];
  do names.push(readName(cursor, "a name"));
  while (cursor.accept(",") !== null);
  cursor.close(opening, "`,` or `)` after a name");
  cursor.next();
  return names;
}

function readDatatable(parser: Parser): Expression {
  const { cursor } = parser;
  const start = cursor.index;
  cursor.next();
  const columns = readColumns(cursor);
  const opening = cursor.expect("[", "before the values of the table");
  const values: Expression[] = [];
  while (!cursor.at("]")) {
    values.push(parser.expression());
    if (cursor.accept(",") === null) break;
  }
  cursor.close(opening, "`,` or `]` after a value");
  return cursor.made({ kind: "datatable", columns, values, span: cursor.spanFrom(start) }, ...values);
}

/** The addresses stand in square brackets; properties behind `with` are optional. */
function readExternalData(parser: Parser): Expression {
  const { cursor } = parser;
  const start = cursor.index;
  cursor.next();
  const columns = readColumns(cursor);
  const opening = cursor.expect("[", "before the addresses of the files");
  const urls: Expression[] = [];
  while (!cursor.at("]")) {
    urls.push(parser.expression());
    if (cursor.accept(",") === null) break;
  }
  cursor.close(opening, "`,` or `]` after an address");
  const properties = cursor.accept("with") === null ? [] : readProperties(parser);
  const values = [...urls, ...properties.map(({ value }) => value)];
  return cursor.made(
    { kind: "externaldata", columns, urls, properties, span: cursor.spanFrom(start) },
    ...values,
  );
}

function readProperties(parser: Parser): { readonly name: Identifier; readonly value: Expression }[] {
  const { cursor } = parser;
  const opening = cursor.expect("(", "before the properties");
  const properties: { readonly name: Identifier; readonly value: Expression }[] = [];
  while (!cursor.at(")")) {
    const name = readName(cursor, "the name of a property");
    cursor.expect("=", `after ${name.name}`);
    properties.push({ name, value: parser.operand() });
    if (cursor.accept(",") === null) break;
  }
  cursor.close(opening, "`,` or `)` after a property");
  return properties;
}
