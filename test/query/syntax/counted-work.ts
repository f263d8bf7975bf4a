import { ColumnFlow } from "../../../query/completion/column-flow.ts";
import { Cursor } from "../../../query/syntax/cursor.ts";

/**
 * Counts what reading or completing a text does, which says how the time taken grows and is the same on every machine:
 * tokens and tables looked at, names looked up, patterns tried, and characters that patterns and searches pass over.
 */
export function workOf(read: () => void): number {
  let steps = 0;
  const { tokenAt } = Cursor.prototype;
  const { columnsOf } = ColumnFlow.prototype;
  const { exec } = RegExp.prototype;
  const { has } = Set.prototype;
  const { indexOf } = String.prototype;
  Cursor.prototype.tokenAt = function (index) {
    steps++;
    return tokenAt.call(this, index);
  };
  ColumnFlow.prototype.columnsOf = function (table, rows) {
    steps++;
    return columnsOf.call(this, table, rows);
  };
  RegExp.prototype.exec = function (text) {
    const found = exec.call(this, text);
    steps += 1 + (found?.[0].length ?? 0);
    return found;
  };
  Set.prototype.has = function (value) {
    steps++;
    return has.call(this, value);
  };
  String.prototype.indexOf = function (sought, from = 0) {
    const found = indexOf.call(this, sought, from);
    steps += (found === -1 ? this.length : found) - from;
    return found;
  };
  try {
    read();
  } finally {
    Cursor.prototype.tokenAt = tokenAt;
    ColumnFlow.prototype.columnsOf = columnsOf;
    RegExp.prototype.exec = exec;
    Set.prototype.has = has;
    String.prototype.indexOf = indexOf;
  }
  return steps;
}
