import type { Parser } from "./grammar.ts";
import { nameLength, readColumns, readName } from "./names.ts";
import { unexpectedBehind } from "./operators.ts";
import { readBody } from "./pipelines.ts";
import type { Expression, FunctionDeclaration, FunctionParameter, LetStatement, Statement } from "./tree.ts";

interface Block {
  readonly statements: readonly Statement[];
  /** Null when no expression stands at the end. */
  readonly body: Expression | null;
}

/** Statements that are refused by their name. */
const UNSUPPORTED_STATEMENTS: readonly (readonly [string, string])[] = [
  ["declare", "query_parameters"],
  ["declare", "pattern"],
  ["alias", "database"],
  ["restrict", "access"],
];

/**
 * Statements with `;` between them, the last one an expression, up to the end or a closing bracket. The last one of a
 * whole query may be operators alone.
 */
export function readStatements(parser: Parser, of: "query" | "function"): Block {
  const { cursor } = parser;
  const statements: Statement[] = [];
  let body: Expression | null = null;
  for (;;) {
    while (cursor.accept(";") !== null);
    if (cursor.isAtEnd() || cursor.at("}")) return { statements, body };
    const before = cursor.index;
    cursor.recovering(() => {
      const statement = readStatement(parser);
      if (statement !== null) {
        statements.push(statement);
      } else {
        if (body !== null)
          throw cursor.failure(
            "A query answers one table; this is a second one.",
            cursor.peek().span,
            null,
            "UNSUPPORTED",
          );
        body = of === "query" ? readBody(parser) : parser.pipeline();
      }
      if (!cursor.isAtEnd() && !cursor.at(";") && !cursor.at("}"))
        throw unexpectedBehind(parser, statement === null ? "the query" : statement.kind, body);
    });
    // What could not be read may be a bracket or pipe that nothing stands in front of.
    if (cursor.index === before && !cursor.isAtEnd()) cursor.rewind(before + 1);
  }
}

/** Null when no statement but an expression begins here. */
function readStatement(parser: Parser): Statement | null {
  const { cursor } = parser;
  const start = cursor.index;
  const [unsupported] = UNSUPPORTED_STATEMENTS.filter(
    ([first, second]) => cursor.at(first) && cursor.at(second, 1),
  );
  if (unsupported !== undefined)
    throw cursor.failure(
      `${unsupported.join(" ")} is not supported.`,
      cursor.peek().span,
      null,
      "UNSUPPORTED",
    );
  if (cursor.at("let") && nameLength(cursor, 1) > 0) return readLet(parser);
  if (!cursor.at("set") || cursor.peek(1).kind !== "name") return null;
  cursor.next();
  const option = readName(cursor, "an option");
  if (cursor.accept("=") !== null) parser.operand();
  return { kind: "set", option, span: cursor.spanFrom(start) };
}

function readLet(parser: Parser): LetStatement {
  const { cursor } = parser;
  const start = cursor.index;
  cursor.next();
  const name = readName(cursor, "a name");
  cursor.expect("=", `after let ${name.name}`);
  const value = isFunction(parser) ? readFunction(parser) : parser.pipeline();
  return { kind: "let", name, value, span: cursor.spanFrom(start) };
}

/** `(parameters) {`, the brackets told apart from those of a value by what stands behind them. */
function isFunction({ cursor }: Parser): boolean {
  const ahead = cursor.at("view") ? 1 : 0;
  if (!cursor.at("(", ahead)) return false;
  const behind = cursor.behindBracket(ahead);
  return behind !== null && cursor.at("{", behind - cursor.index);
}

function readFunction(parser: Parser): FunctionDeclaration {
  const { cursor } = parser;
  const start = cursor.index;
  const isView = cursor.accept("view") !== null;
  const opening = cursor.expect("(", "before the parameters");
  const parameters: FunctionParameter[] = [];
  while (!cursor.at(")")) {
    parameters.push(readParameter(parser));
    if (cursor.accept(",") === null) break;
  }
  cursor.close(opening, "`,` or `)` after a parameter");
  const brace = cursor.expect("{", "before the body");
  const { statements, body } = cursor.nested(() => readStatements(parser, "function"));
  if (body === null) throw cursor.unexpected("an expression that the function answers");
  cursor.close(brace, "`}` after the body");
  return { kind: "function", isView, parameters, statements, body, span: cursor.spanFrom(start) };
}

function readParameter(parser: Parser): FunctionParameter {
  const { cursor } = parser;
  const name = readName(cursor, "the name of a parameter");
  cursor.expect(":", `and a type after the parameter ${name.name}`);
  if (cursor.at("(") && cursor.at("*", 1)) {
    const opening = cursor.next();
    cursor.next();
    cursor.close(opening, "`)` after `*`");
    return { name, type: "anyTable", defaultValue: null };
  }
  if (cursor.at("(")) return { name, type: readColumns(cursor), defaultValue: null };
  const type = readName(cursor, "a type such as string or long");
  return { name, type, defaultValue: cursor.accept("=") === null ? null : parser.expression() };
}
