import type { Cursor } from "./cursor.ts";
import { writeDatetime } from "./datetime-text.ts";
import { readLiteral } from "./literals.ts";
import { writeTimespan } from "./timespan-text.ts";
import type { DynamicExpression, LiteralExpression } from "./tree.ts";

/** `dynamic(value)`, the value being JSON, also with quotes of any form and with `datetime(...)` and its like inside. */
export function readDynamic(cursor: Cursor): DynamicExpression {
  const start = cursor.index;
  const json = readNested(cursor);
  return cursor.made({ kind: "dynamic", json, span: cursor.spanFrom(start) });
}

function readNested(cursor: Cursor): string {
  cursor.next();
  const opening = cursor.next();
  const json = readValue(cursor);
  cursor.close(opening, "`)` after the value");
  return json;
}

function readValue(cursor: Cursor): string {
  return cursor.nested(() => {
    if (cursor.at("[")) return readArray(cursor);
    if (cursor.at("{")) return readObject(cursor);
    if (cursor.accept("null") !== null) return "null";
    if (cursor.at("dynamic") && cursor.at("(", 1)) return readNested(cursor);
    const isNegative = cursor.accept("-") !== null;
    const { kind } = cursor.peek();
    if (isNegative && kind !== "long" && kind !== "real" && kind !== "timespan")
      throw cursor.unexpected("a number after -");
    // JSON's numbers have no largest one.
    if (kind === "long") return (isNegative ? "-" : "") + BigInt(cursor.next().text);
    const literal = readLiteral(cursor);
    if (literal === null) throw cursor.unexpected("a value of JSON");
    return isNegative ? writeNegative(literal) : writeLiteral(literal);
  });
}

function readArray(cursor: Cursor): string {
  const opening = cursor.next();
  const items: string[] = [];
  if (!cursor.at("]")) {
    do items.push(readValue(cursor));
    while (cursor.accept(",") !== null);
  }
  cursor.close(opening, "`,` or `]` after an element");
  return `[${items.join(",")}]`;
}

function readObject(cursor: Cursor): string {
  const opening = cursor.next();
  const members: string[] = [];
  if (!cursor.at("}")) {
    do members.push(readMember(cursor));
    while (cursor.accept(",") !== null);
  }
  cursor.close(opening, "`,` or `}` after a value");
  return `{${members.join(",")}}`;
}

function readMember(cursor: Cursor): string {
  if (cursor.peek().kind !== "string") throw cursor.unexpected("a key in quotes");
  const key = cursor.next().value;
  cursor.expect(":", "after a key");
  return `${JSON.stringify(key)}:${readValue(cursor)}`;
}

/** Of a length of time it is another one; JSON has no number that is infinite. */
function writeNegative(literal: LiteralExpression): string {
  if (typeof literal.value === "bigint") return writeLiteral({ ...literal, value: -literal.value });
  const written = writeLiteral(literal);
  return written === "null" ? written : `-${written}`;
}

function writeLiteral({ type, value }: LiteralExpression): string {
  if (value === null) return "null";
  if (typeof value === "bigint") {
    if (type === "datetime") return JSON.stringify(writeDatetime(value));
    return type === "timespan" ? JSON.stringify(writeTimespan(value)) : value.toString();
  }
  return JSON.stringify(value);
}
