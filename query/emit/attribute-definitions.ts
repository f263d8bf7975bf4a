import { type AttributeColumns, attributeInMap, attributeKind } from "../attribute-columns.ts";
import { ATTRIBUTES } from "../schema.ts";

/** What the table has columns of, made of the map, for files, which have that alone. `place` gives a key its place in the statement. */
export function columnsOfMap(columns: AttributeColumns, place: (key: string) => string): readonly string[] {
  const { column: map, jsonKeysColumn } = ATTRIBUTES;
  return [...columns].flatMap(([key, { text, kind }]) => {
    const inMap = attributeInMap(map, jsonKeysColumn, place(key));
    return [`${inMap.text} AS ${text}`, `${attributeKind(inMap)} AS ${kind}`];
  });
}
