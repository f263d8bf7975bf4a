import { OBJECT_MAX_CHARS } from "./limits.ts";

/** What of a log entry says what went wrong. */
export interface ErrorEntry {
  readonly service: string;
  readonly level: string;
  readonly message: string;
  /** Attributes by name, strings as they are and any other value as its JSON. */
  readonly attrs: Readonly<Record<string, string>>;
}

/** What an entry's attributes say of an exception; empty where they say nothing. */
interface ErrorText {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  /** An attribute says that there was an exception, whatever the level. */
  readonly isException: boolean;
  /** Only a text that may be a stack says so: whether it is one, its lines tell. */
  readonly isPerhaps: boolean;
}

const OWN = /^(?:exception|error|err)[._](.+)$/;
const WHOLE = /^(?:exception|error|err)$/;
const TYPES = new Set(["type", "name", "class", "kind", "class_name", "classname", "exceptiontype"]);
const MESSAGES = new Set(["message", "msg", "description", "reason", "text"]);
const STACKS = /^(?:stack(?:_?trace|_?string)?|backtrace|traceback|trace)$/;
const LOOSE_STACKS = /^(?:stack(?:[._]?trace|_string)?|backtrace|traceback|exc_info)$/;
/** Values that say that there is none. */
const NOTHING = new Set(["", "null", "false", "0", "{}", "[]", "none", "undefined", '""']);

/** Reads the attributes in the order of their names, so that the same entry says the same however it was written. */
export function errorTextOf({ attrs }: ErrorEntry): ErrorText {
  const said = { type: "", message: "", stack: "" };
  const note = (part: keyof typeof said, value: string): void => {
    if (said[part] === "") said[part] = value;
  };
  let isException = false;
  let isPerhaps = false;
  const names = Object.keys(attrs).sort();
  const read = (name: string, value: string): void => {
    const own = OWN.exec(name)?.[1];
    if (own !== undefined) {
      isException = true;
      if (TYPES.has(own)) note("type", value);
      else if (MESSAGES.has(own)) note("message", value);
      else if (STACKS.test(own)) note("stack", value);
      return;
    }
    if (name.startsWith("stack")) isPerhaps = true;
    if (LOOSE_STACKS.test(name)) note("stack", value);
    if (!WHOLE.test(name)) return;
    const parts = objectOf(value);
    for (const [part, text] of parts ?? []) read(`${name}.${part.toLowerCase()}`, text);
    if (parts !== null) return;
    isPerhaps = true;
    note(value.includes("\n") || value.includes("\\n") ? "stack" : "message", value);
  };
  for (const name of names) {
    const value = (attrs[name] ?? "").trim();
    if (!NOTHING.has(value.toLowerCase())) read(name.toLowerCase(), value);
  }
  return { ...said, isException, isPerhaps };
}

/** The texts of a JSON object by name; null for what is none. */
function objectOf(text: string): [string, string][] | null {
  if (!text.startsWith("{") || text.length > OBJECT_MAX_CHARS) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return null;
    return Object.entries(value).flatMap(([name, part]): [string, string][] =>
      typeof part === "string"
        ? [[name, part]]
        : Array.isArray(part) && part.every((line) => typeof line === "string")
          ? [[name, part.join("\n")]]
          : [],
    );
  } catch {
    return null;
  }
}
