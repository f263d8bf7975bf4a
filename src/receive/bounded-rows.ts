import { type EntryColumns, LEVEL_NAMES } from "../../ingest/index.ts";
import { type RowBound, RowSet, type SearchIndex } from "../../query/index.ts";
import { EntryRow } from "./block-row.ts";

/** The rows that a bound leaves; when it is exact, they fulfil the conditions it was made of. */
interface BoundedSet {
  readonly rows: RowSet;
  readonly isExact: boolean;
}

type Attribute = ReturnType<EntryRow["attribute"]>;
type ColumnBound = Extract<RowBound, { kind: "column" }>;
type AttributeBound = Extract<RowBound, { kind: "attribute" }>;
type CompoundBound = Extract<RowBound, { kind: "all" | "any" }>;

/** The distinct values of an attribute in a batch, and for every row which of them it has. */
interface AttributeColumn {
  readonly values: readonly Attribute[];
  readonly indexes: Uint32Array;
}

/** Cheap ones first: what they rule out is not looked at again. */
const COSTS = { message: 0, column: 1, all: 2, any: 3, attribute: 4 };
/** One row in so many: of fewer, attributes are looked up one by one. */
const SPARSE_ROWS = 8;

/** Decides bounds for the rows of one batch, each distinct text of a column or an attribute once. */
export class BoundedRows {
  readonly #block: EntryColumns;
  readonly #search: SearchIndex;
  readonly #attributes = new Map<string, AttributeColumn>();

  constructor(block: EntryColumns, search: SearchIndex) {
    this.#block = block;
    this.#search = search;
  }

  rowsOf(bound: RowBound, within: RowSet): BoundedSet {
    switch (bound.kind) {
      case "message":
        return { rows: within.and(this.#search.rowsMatching(bound.condition)), isExact: bound.isExact };
      case "column":
        return this.#rowsOfColumn(bound, within);
      case "attribute":
        return this.#rowsOfAttribute(bound, within);
      case "all":
        return this.#rowsOfAll(bound, within);
      case "any":
        return this.#rowsOfAny(bound, within);
    }
  }

  #rowsOfAll({ operands, isExact }: CompoundBound, within: RowSet): BoundedSet {
    let set: BoundedSet = { rows: within, isExact };
    for (const operand of operands.toSorted((left, right) => COSTS[left.kind] - COSTS[right.kind])) {
      const next = this.rowsOf(operand, set.rows);
      set = { rows: next.rows, isExact: set.isExact && next.isExact };
    }
    return set;
  }

  #rowsOfAny({ operands, isExact }: CompoundBound, within: RowSet): BoundedSet {
    return operands
      .map((operand) => this.rowsOf(operand, within))
      .reduce((left, right) => ({
        rows: left.rows.or(right.rows),
        isExact: isExact && left.isExact && right.isExact,
      }));
  }

  #rowsOfColumn({ column, holds }: ColumnBound, within: RowSet): BoundedSet {
    const block = this.#block;
    const { texts, indexes } =
      column === "level" ? { texts: LEVEL_NAMES, indexes: block.levelBytes } : block[column];
    let isExact = true;
    const rows = RowSet.ofIndexes(within, indexes, texts.length, (value) => {
      const answer = holds(texts[value] ?? "");
      if (answer === null) isExact = false;
      return answer !== false;
    });
    return { rows, isExact };
  }

  #rowsOfAttribute({ key, others, holds }: AttributeBound, within: RowSet): BoundedSet {
    const isElsewhere = (row: number): boolean =>
      others.some((other) => new EntryRow(this.#block, row).attribute(other) !== null);
    if (within.size * SPARSE_ROWS < this.#block.rows)
      return keep(within, (row) => {
        const value = new EntryRow(this.#block, row).attribute(key);
        return value === null && isElsewhere(row) ? null : holds(value);
      });
    const { values, indexes } = this.#attributeColumn(key);
    const decided: (boolean | null | undefined)[] = [];
    return keep(within, (row) => {
      const index = indexes[row] ?? 0;
      const value = values[index] ?? null;
      if (value === null && isElsewhere(row)) return null;
      decided[index] ??= holds(value);
      return decided[index];
    });
  }

  #attributeColumn(key: string): AttributeColumn {
    const known = this.#attributes.get(key);
    if (known !== undefined) return known;
    const values: Attribute[] = [null];
    const indexes = new Uint32Array(this.#block.rows);
    const numbers = { text: new Map<string, number>(), json: new Map<string, number>() };
    for (let row = 0; row < this.#block.rows; row++) {
      const value = new EntryRow(this.#block, row).attribute(key);
      if (value === null) continue;
      const known = numbers[value.isJson ? "json" : "text"];
      let number = known.get(value.text);
      if (number === undefined) {
        number = values.push(value) - 1;
        known.set(value.text, number);
      }
      indexes[row] = number;
    }
    const column = { values, indexes };
    this.#attributes.set(key, column);
    return column;
  }
}

/** Those that are not decided are kept as well. */
function keep(within: RowSet, decide: (row: number) => boolean | null): BoundedSet {
  let isExact = true;
  const rows = within.filter((row) => {
    const answer = decide(row);
    if (answer === null) isExact = false;
    return answer !== false;
  });
  return { rows, isExact };
}
