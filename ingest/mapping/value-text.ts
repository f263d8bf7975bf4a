import { numberText } from "../decode/json-body.ts";

/** A value as the text of a field: a string as it is, anything else as its JSON text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The text of a string, number or boolean, which can be translated; null for anything else. */
export function scalarText(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "boolean" ? String(value) : numberText(value);
}
