import type {
  Argument,
  ColumnDeclaration,
  Expression,
  FunctionDeclaration,
  Identifier,
  LiteralExpression,
  Operator,
  Parameter,
  ParsePart,
  Query,
  SortItem,
  Statement,
} from "../../../query/syntax/tree.ts";

/** A tree as a query text in one form only: every operation in brackets, every name quoted where it must be. */
export function writeQuery({ statements, body }: Query): string {
  return [...statements.map(writeStatement), write(body)].join("; ");
}

function writeStatement(statement: Statement): string {
  if (statement.kind === "set") return `set ${name(statement.option)}`;
  const { value } = statement;
  return `let ${name(statement.name)} = ${value.kind === "function" ? writeFunction(value) : write(value)}`;
}

function writeFunction({ isView, parameters, statements, body }: FunctionDeclaration): string {
  const inner = parameters.map((parameter) => {
    const { type, defaultValue } = parameter;
    const written = type === "anyTable" ? "(*)" : "name" in type ? type.name : columns(type);
    return `${name(parameter.name)}: ${written}${defaultValue === null ? "" : ` = ${write(defaultValue)}`}`;
  });
  return `${isView ? "view " : ""}(${inner.join(", ")}) { ${writeQuery({ statements, body })} }`;
}

export function write(expression: Expression): string {
  switch (expression.kind) {
    case "name":
      return expression.isPattern ? expression.name : name(expression);
    case "literal":
      return writeLiteral(expression);
    case "dynamic":
      return `dynamic(${expression.json})`;
    case "star":
      return "*";
    case "unary":
      return `(${expression.operator}${write(expression.operand)})`;
    case "binary":
      return `(${write(expression.left)} ${expression.operator} ${write(expression.right)})`;
    case "list":
      return `(${write(expression.left)} ${expression.operator} (${list(expression.items, write)}))`;
    case "between": {
      const operator = expression.isNegated ? "!between" : "between";
      return `(${write(expression.left)} ${operator} (${write(expression.low)} .. ${write(expression.high)}))`;
    }
    case "call":
      return `${expression.name.name}(${list(expression.arguments, argument)})`;
    case "member":
      return `${write(expression.base)}.${name(expression.member)}`;
    case "index":
      return `${write(expression.base)}[${write(expression.index)}]`;
    case "pipeline":
      return `(${[...(expression.source === null ? [] : [write(expression.source)]), ...expression.operators.map(writeOperator)].join(" | ")})`;
    case "datatable":
      return `datatable${columns(expression.columns)}[${list(expression.values, write)}]`;
    case "externaldata": {
      const properties = list(
        expression.properties,
        (property) => `${name(property.name)} = ${write(property.value)}`,
      );
      const behind = expression.properties.length === 0 ? "" : ` with (${properties})`;
      return `externaldata${columns(expression.columns)}[${list(expression.urls, write)}]${behind}`;
    }
    case "type":
      return `typeof(${expression.type.name})`;
    case "fieldSearch": {
      const right = expression.right === "*" ? "*" : write(expression.right);
      return expression.left === null ? right : `(${write(expression.left)} : ${right})`;
    }
  }
}

function writeLiteral({ type, value }: LiteralExpression): string {
  if (type === "string") return JSON.stringify(value);
  if (value === null) return `${type}(null)`;
  if (type === "datetime" && typeof value === "bigint") return `datetime(${isoText(value)})`;
  if (type === "timespan")
    return `${Number(value) < 0 ? `time(-${-BigInt(value)}nano)` : `${value}nanoseconds`}`;
  if (type === "real") return `real(${String(value).replace("Infinity", "inf").toLowerCase()})`;
  if (type !== "long") return `${type}(${value})`;
  return Number(value) < 0 ? `long(${value})` : String(value);
}

function isoText(ns: bigint): string {
  const fraction = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const seconds = new Date(Number((ns - fraction) / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}.${fraction.toString().padStart(9, "0")}Z`;
}

function name(identifier: { readonly name: string }): string {
  const isPlain = /^[A-Za-z_$][A-Za-z0-9_]*$/.test(identifier.name) && !NEEDS_QUOTES.has(identifier.name);
  return isPlain ? identifier.name : `[${JSON.stringify(identifier.name)}]`;
}

const NEEDS_QUOTES: ReadonlySet<string> = new Set(
  "and or in by has contains startswith endswith hasprefix hassuffix between like asc desc true false dynamic".split(
    " ",
  ),
);

function list<Item>(items: readonly Item[], writeItem: (item: Item) => string): string {
  return items.map(writeItem).join(", ");
}

function columns(declarations: readonly ColumnDeclaration[]): string {
  return `(${list(declarations, (column) => `${name(column.name)}: ${column.type.name}`)})`;
}

function argument({ names, value }: Argument): string {
  const [first] = names;
  if (first === undefined) return write(value);
  return names.length === 1 ? `${name(first)} = ${write(value)}` : `(${list(names, name)}) = ${write(value)}`;
}

function parameters(written: readonly Parameter[]): string {
  return written.map((parameter) => `${parameter.name.name}=${write(parameter.value)} `).join("");
}

function sortItem({ expression, direction, nulls }: SortItem): string {
  return `${write(expression)}${direction === null ? "" : ` ${direction}`}${nulls === null ? "" : ` nulls ${nulls}`}`;
}

function part(keyword: string, expression: Expression | null): string {
  return expression === null ? "" : ` ${keyword} ${write(expression)}`;
}

function parts(keyword: string, items: readonly Argument[]): string {
  return items.length === 0 ? "" : ` ${keyword} ${list(items, argument)}`;
}

function parsePart(piece: ParsePart): string {
  if (piece.kind === "star") return "*";
  return piece.kind === "text" ? write(piece.text) : `${name(piece.name)}${type(":", piece.type)}`;
}

function type(joint: string, identifier: Identifier | null): string {
  return identifier === null ? "" : `${joint}${identifier.name}`;
}

export function writeOperator(operator: Operator): string {
  return `${operator.keyword.name} ${parameters(operator.parameters)}${operands(operator)}`.trim();
}

function operands(operator: Operator): string {
  switch (operator.kind) {
    case "where":
      return write(operator.predicate);
    case "search":
      return `${operator.tables.length === 0 ? "" : `in (${list(operator.tables, write)}) `}${write(operator.predicate)}`;
    case "extend":
    case "project":
    case "serialize":
    case "print":
    case "project-rename":
      return list(operator.assignments, argument);
    case "project-away":
    case "project-keep":
    case "project-reorder":
      return list(
        operator.names,
        ({ expression, order }) => `${write(expression)}${order === null ? "" : ` ${order}`}`,
      );
    case "distinct":
      return list(operator.columns, argument);
    case "summarize":
      return `${list(operator.aggregates, argument)}${parts("by", operator.by)}`;
    case "count":
      return operator.as === null ? "" : `as ${name(operator.as)}`;
    case "take":
    case "sample":
      return write(operator.count);
    case "sample-distinct":
      return `${write(operator.count)} of ${write(operator.of)}`;
    case "top":
      return `${write(operator.count)} by ${list(operator.by, sortItem)}`;
    case "top-nested":
      return operator.levels.map(nestedLevel).join(", top-nested ");
    case "top-hitters":
      return `${write(operator.count)} of ${write(operator.of)}${part("by", operator.by)}`;
    case "sort":
      return `by ${list(operator.by, sortItem)}`;
    case "join":
    case "lookup":
      return `${write(operator.right)}${operator.on.length === 0 ? "" : ` on ${list(operator.on, write)}`}`;
    case "union":
      return list(operator.tables, write);
    case "as":
      return name(operator.name);
    case "invoke":
      return write(operator.call);
    case "range":
      return `${name(operator.name)}${part("from", operator.from)}${part("to", operator.to)}${part("step", operator.step)}`;
    case "parse":
    case "parse-where":
      return `${write(operator.subject)} with ${operator.pattern.map(parsePart).join(" ")}`;
    case "parse-kv":
      return `${write(operator.subject)} as ${columns(operator.columns)}${operator.options.length === 0 ? "" : ` with (${list(operator.options, option)})`}`;
    case "mv-expand":
      return `${list(operator.columns, expanded)}${part("limit", operator.limit)}`;
    case "mv-apply":
      return `${list(operator.columns, expanded)}${part("limit", operator.limit)} on ${write(operator.subquery)}`;
    case "make-series": {
      const aggregates = list(
        operator.aggregates,
        (item) => `${argument(item.argument)}${part("default =", item.defaultValue)}`,
      );
      return `${aggregates} on ${argument(operator.on)}${part("from", operator.from)}${part("to", operator.to)}${part("step", operator.step)}${parts("by", operator.by)}`;
    }
    case "evaluate":
      return `${write(operator.plugin)}${operator.schema === null ? "" : ` : ${columns(operator.schema)}`}`;
    case "facet":
      return `by ${list(operator.by, write)}${part("with", operator.with)}`;
    case "reduce":
      return `by ${write(operator.by)}${operator.options.length === 0 ? "" : ` with ${list(operator.options, option)}`}`;
    case "render":
      return `${operator.chart.name}${operator.properties.length === 0 ? "" : ` with (${list(operator.properties, option)})`}`;
    case "getschema":
    case "consume":
    case "unsupported":
      return "";
  }
}

function nestedLevel(level: Extract<Operator, { kind: "top-nested" }>["levels"][number]): string {
  const direction = level.direction === null ? "" : ` ${level.direction}`;
  const count = level.count === null ? "" : `${write(level.count)} `;
  return `${count}of ${argument(level.of)}${part("with others =", level.others)} by ${argument(level.by)}${direction}`;
}

function option(parameter: Parameter): string {
  return `${name(parameter.name)} = ${write(parameter.value)}`;
}

function expanded(column: { readonly argument: Argument; readonly type: Identifier | null }): string {
  return `${argument(column.argument)}${column.type === null ? "" : ` to typeof(${column.type.name})`}`;
}
