/** What a Sigma rule takes, said plainly and one entry at a time; and rules and entries to try. */
import { isIP } from "node:net";
import fc from "fast-check";

/** The fields of an entry, wherever its source puts them. */
export type SigmaEntry = Readonly<Record<string, string | number>>;
type Values = unknown;
type Selection = Readonly<Record<string, Values>> | readonly Readonly<Record<string, Values>>[];

export interface SigmaRule {
  readonly title: string;
  readonly id: string;
  readonly logsource: { readonly product: string; readonly category?: string };
  readonly detection: Readonly<Record<string, Selection | string>>;
}

/** Whether the rule takes the entry, by the words of the specification. */
export function takes({ detection, logsource }: SigmaRule, entry: SigmaEntry): boolean {
  if (logsource.category === "process_creation" && !["1", "4688"].includes(String(entry.EventID)))
    return false;
  const { condition, ...selections } = detection;
  const holding = new Map(
    Object.entries(selections).map(([name, selection]) => [name, holds(selection, entry)]),
  );
  const expression = String(condition)
    .replace(/\b(1|all) of ([^\s)]+)/g, (_, count: string, pattern: string) => {
      const named = [...holding].filter(([name]) =>
        pattern === "them" ? !name.startsWith("_") : name.startsWith(pattern.replace("*", "")),
      );
      const values = named.map(([, held]) => held);
      return String(count === "1" ? values.includes(true) : !values.includes(false));
    })
    .replace(/\b[a-z_]+\d*\b/g, (word) =>
      holding.has(word) ? String(holding.get(word)) : ({ and: "&&", or: "||", not: "!" }[word] ?? word),
    );
  return new Function(`return ${expression}`)() === true;
}

function holds(selection: Selection | string, entry: SigmaEntry): boolean {
  if (typeof selection === "string") throw new TypeError("no selection");
  if (Array.isArray(selection)) return selection.some((each) => holds(each, entry));
  return Object.entries(selection).every(([key, values]) => {
    const [field = "", ...modifiers] = key.split("|");
    const list: readonly unknown[] = Array.isArray(values) ? values : [values];
    const told = entry[field];
    const tests = list.map((value) =>
      isValue(told === undefined || told === "" ? null : String(told), value, modifiers, entry),
    );
    return modifiers.includes("all") ? tests.every(Boolean) : tests.some(Boolean);
  });
}

function isValue(
  told: string | null,
  value: unknown,
  modifiers: readonly string[],
  entry: SigmaEntry,
): boolean {
  if (modifiers.includes("exists")) return (told !== null) === value;
  const isPart = modifiers.some((name) => /^(?:contains|startswith|endswith)$/.test(name));
  if (value === null || (value === "" && !isPart)) return told === null;
  if (told === null) return false;
  const order = modifiers.find((name) => ["lt", "lte", "gt", "gte"].includes(name));
  if (order !== undefined) {
    const [left, right] = [told.trim() === "" ? Number.NaN : Number(told), Number(value)];
    return { lt: left < right, lte: left <= right, gt: left > right, gte: left >= right }[order] ?? false;
  }
  const text = String(value);
  const fold = (each: string): string => (modifiers.includes("cased") ? each : each.toLowerCase());
  if (modifiers.includes("fieldref")) {
    const other = entry[text];
    return other !== undefined && other !== "" && fold(told) === fold(String(other));
  }
  if (modifiers.includes("cidr"))
    return isIP(told) === 4 && told.startsWith(`${text.split(".").slice(0, 2).join(".")}.`);
  if (modifiers.includes("re")) return new RegExp(text, modifiers.includes("i") ? "i" : "").test(told);
  if (modifiers.includes("base64offset"))
    return [0, 1, 2].some((offset) => {
      const bytes = Buffer.from("x".repeat(offset) + text);
      const whole = bytes.toString("base64");
      const from = Math.ceil((offset * 8) / 6);
      const to = Math.floor((bytes.length * 8) / 6);
      return told.includes(whole.slice(from, to));
    });
  const anchored = (from: number, to: number): boolean => {
    const slice = fold(told).slice(from, to);
    return like(slice, typeof value === "string" ? fold(text) : escaped(text));
  };
  const length = told.length;
  const starts = Array.from({ length: length + 1 }, (_, i) => i);
  if (modifiers.includes("contains"))
    return starts.some((from) => starts.some((to) => to >= from && anchored(from, to)));
  if (modifiers.includes("startswith")) return starts.some((to) => anchored(0, to));
  if (modifiers.includes("endswith")) return starts.some((from) => anchored(from, length));
  return anchored(0, length);
}

function escaped(text: string): string {
  return text.replace(/[\\*?]/g, "\\$&");
}

/** Whether a text is what a pattern of `*` and `?` says, character by character. */
function like(text: string, pattern: string): boolean {
  if (pattern === "") return text === "";
  const [first = "", second = ""] = pattern;
  if (first === "\\" && ["*", "?", "\\"].includes(second))
    return text.startsWith(second) && like(text.slice(1), pattern.slice(2));
  if (first === "*")
    return Array.from({ length: text.length + 1 }, (_, i) => i).some((i) =>
      like(text.slice(i), pattern.slice(1)),
    );
  if (text === "") return false;
  return (first === "?" || text.startsWith(first)) && like(text.slice(1), pattern.slice(1));
}

const FIELDS = ["Image", "CommandLine", "n", "user.name", "x-odd name"];
const word = fc.constantFrom(
  "cmd",
  "Cmd",
  "C:\\a\\",
  "\\cmd.exe",
  ".exe",
  " -enc",
  "401",
  "a",
  "A",
  "ab",
  "(",
  '"',
  "é",
  "$x",
);
const text = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
const pattern = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: word },
      { weight: 1, arbitrary: fc.constantFrom("*", "?", "\\*", "\\\\", "*") },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => parts.join(""));
const scalar = fc.oneof(
  pattern,
  pattern,
  fc.integer({ min: 0, max: 5 }),
  fc.constantFrom(401, "401", null, ""),
);
const field = fc.constantFrom(...FIELDS);
const listed = (value: fc.Arbitrary<unknown>) =>
  fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 3 }));
const test = fc.oneof(
  fc.tuple(
    field,
    fc.constantFrom(
      "",
      "|contains",
      "|startswith",
      "|endswith",
      "|cased",
      "|contains|cased",
      "|contains|all",
    ),
    listed(scalar),
  ),
  fc.tuple(
    fc.constantFrom("n", "CommandLine"),
    fc.constantFrom("|lt", "|lte", "|gt", "|gte"),
    fc.integer({ min: -1, max: 402 }),
  ),
  fc.tuple(field, fc.constant("|exists"), fc.boolean()),
  fc.tuple(field, fc.constant("|cidr"), listed(fc.constantFrom("10.2.0.0/16", "192.168.0.0/16"))),
  fc.tuple(field, fc.constantFrom("|fieldref", "|fieldref|cased"), field),
  fc.tuple(
    field,
    fc.constantFrom("|re", "|re|i"),
    listed(fc.constantFrom("^c", "md$", "a.", "[0-9]+", "\\(", "(?:ab|x)+")),
  ),
  fc.tuple(field, fc.constant("|base64offset|contains"), text),
);
const selection = fc
  .array(test, { minLength: 1, maxLength: 3 })
  .map(
    (tests): Record<string, unknown> =>
      Object.fromEntries(tests.map(([name, modifiers, value]) => [name + modifiers, value])),
  );
const NAMES = ["sel_a", "sel_b", "filter", "_part"];
const reference = fc.constantFrom(...NAMES, "1 of sel_*", "all of sel_*", "1 of them", "all of them");
const condition = fc
  .array(fc.tuple(fc.constantFrom("", "not "), reference), { minLength: 1, maxLength: 3 })
  .chain((parts) =>
    fc
      .array(fc.constantFrom(" and ", " or "), { minLength: parts.length, maxLength: parts.length })
      .map((joins) =>
        parts
          .map(([not, name], i) => (i === 0 ? "" : (joins[i] ?? "")) + not + (i === 1 ? `(${name})` : name))
          .join(""),
      ),
  );

export const rule: fc.Arbitrary<SigmaRule> = fc
  .record({
    logsource: fc.constantFrom<SigmaRule["logsource"]>(
      { product: "linux" },
      { product: "windows" },
      { product: "windows", category: "process_creation" },
    ),
    selections: fc.tuple(
      ...NAMES.map(() => fc.oneof(selection, selection, fc.array(selection, { minLength: 1, maxLength: 2 }))),
    ),
    condition,
  })
  .map(({ logsource, selections, condition: asked }) => ({
    ...{ title: "a rule", id: crypto.randomUUID(), logsource },
    detection: {
      ...Object.fromEntries(NAMES.map((name, i) => [name, selections[i] ?? {}])),
      condition: asked,
    },
  }));

export const entry: fc.Arbitrary<SigmaEntry> = fc
  .tuple(
    fc.dictionary(
      field,
      fc.oneof(
        text,
        text,
        fc.integer({ min: 0, max: 5 }),
        fc.constantFrom<string | number>(401, "401", "", "cmd", "a", "10.2.3.4", "10.20.3.4"),
        text.map((each) => Buffer.from(`z${each}`).toString("base64")),
      ),
    ),
    fc.constantFrom(1, 3, 4688),
  )
  .map(([fields, EventID]) => ({ ...fields, EventID }));
