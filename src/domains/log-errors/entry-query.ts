import { VALUE_MARK } from "../../mining/tokenizer.ts";
import { formOf } from "./grouping/group-error.ts";
import { QUERY_WORD_MIN_CHARS, QUERY_WORDS_MAX } from "./limits.ts";

interface KnownGroup {
  readonly service: string;
  readonly type: string;
  readonly message: string;
  readonly groupedBy: "attribute" | "frames" | "message";
  readonly keys: readonly string[];
}

const WORD = /[\p{L}_][\p{L}\p{N}_]*/gu;

/** KQL that finds every entry of a group: by the words that all of them have, so that it may find some others, too. */
export function entryQuery({ service, type, message, groupedBy, keys }: KnownGroup): string {
  if (groupedBy === "attribute")
    return `logs | where tostring(attrs.fingerprint) == ${quoted(keys[0] ?? "")}`;
  const conditions = [`service == ${quoted(service)}`];
  for (const word of [...longest([type], 1), ...wordsOf(message, groupedBy, keys)])
    conditions.push(`(message contains_cs ${quoted(word)} or tostring(attrs) contains_cs ${quoted(word)})`);
  return `logs | where ${[...new Set(conditions)].join(" and ")}`;
}

function wordsOf(message: string, by: "frames" | "message", keys: readonly string[]): string[] {
  // The name of a call is written in every trace that has it, whatever stands around it.
  if (by === "frames") return longest(keys.slice(0, 1), 1);
  // What a value is, another entry has another one for: a word beside it may be a part of it.
  return longest(formOf(message).split(VALUE_MARK), QUERY_WORDS_MAX);
}

function longest(texts: readonly string[], count: number): string[] {
  const words = new Set(texts.flatMap((text) => text.match(WORD) ?? []));
  return [...words]
    .filter(({ length }) => length >= QUERY_WORD_MIN_CHARS)
    .toSorted((left, right) => right.length - left.length || (left < right ? -1 : 1))
    .slice(0, count);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
