import type { ColumnStorage } from "../schema.ts";
import type { SqlWriter } from "./sql-writer.ts";

type BagStorage = Extract<ColumnStorage, { kind: "bag" }>;

/** The text of the entry: a string as it is, JSON for anything else, empty where the bag has no such key. */
export function writeAttributeText(out: SqlWriter, bag: BagStorage, key: string): void {
  out.text(`${bag.column}[`);
  out.parameter("String", key);
  out.text("]");
}

/** The JSON text of the entry; empty where the bag has no such key. */
export function writeAttribute(out: SqlWriter, bag: BagStorage, key: string): void {
  out.text(`multiIf(has(${bag.jsonKeysColumn}, `);
  out.parameter("String", key);
  out.text("), ");
  writeAttributeText(out, bag, key);
  out.text(`, mapContains(${bag.column}, `);
  out.parameter("String", key);
  out.text("), toJSONString(");
  writeAttributeText(out, bag, key);
  out.text("), '')");
}

/** The JSON text of the whole bag. */
export function writeBag(out: SqlWriter, bag: BagStorage): void {
  const member = `concat(toJSONString(k), ':', if(has(${bag.jsonKeysColumn}, k), v, toJSONString(v)))`;
  const members = `arrayMap((k, v) -> ${member}, mapKeys(${bag.column}), mapValues(${bag.column}))`;
  out.text(`concat('{', arrayStringConcat(${members}, ','), '}')`);
}
