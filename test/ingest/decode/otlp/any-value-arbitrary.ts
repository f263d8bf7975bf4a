import fc from "fast-check";

/** An AnyValue with the way it is written, as a tree. */
export type ValueTree =
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "int"; readonly value: bigint; readonly asText: boolean }
  | { readonly kind: "double"; readonly value: number }
  | { readonly kind: "bytes"; readonly base64: string }
  | { readonly kind: "nothing"; readonly form: "empty" | "null" | "absent" }
  | { readonly kind: "array"; readonly values: readonly ValueTree[] }
  | { readonly kind: "kvlist"; readonly members: readonly Member[] };

export type Member = readonly [name: string, value: ValueTree];

/** A JSON text of which JSON.stringify of this project's tests would lose digits. */
class Digits {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

const text = fc.string({ unit: "binary", maxLength: 12 });
const name = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "a.b",
    "message",
    "msg",
    "key",
    "value",
    "service.name",
    "host.name",
    "__proto__",
  ),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
);

const { value: valueTree } = fc.letrec<{ value: ValueTree }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.record({ kind: fc.constant("string" as const), text }),
    fc.record({ kind: fc.constant("bool" as const), value: fc.boolean() }),
    fc.record({
      kind: fc.constant("int" as const),
      value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      asText: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant("double" as const),
      value: fc.double().map((value) => (value === 0 ? 0 : value)),
    }),
    fc.record({
      kind: fc.constant("bytes" as const),
      base64: fc.uint8Array({ maxLength: 18 }).map((bytes) => Buffer.from(bytes).toString("base64")),
    }),
    fc.record({
      kind: fc.constant("nothing" as const),
      form: fc.constantFrom("empty" as const, "null" as const, "absent" as const),
    }),
    fc.record({ kind: fc.constant("array" as const), values: fc.array(tie("value"), { maxLength: 4 }) }),
    fc.record({
      kind: fc.constant("kvlist" as const),
      members: fc.uniqueArray(fc.tuple(name, tie("value")), { maxLength: 4, selector: ([key]) => key }),
    }),
  ),
}));

export const anyValue: fc.Arbitrary<ValueTree> = valueTree;
export const members: fc.Arbitrary<readonly Member[]> = fc.uniqueArray(fc.tuple(name, valueTree), {
  maxLength: 5,
  selector: ([key]) => key,
});

/** The tree as the protocol's JSON encoding has it; undefined for a field that is left out. */
export function wireValue(tree: ValueTree): unknown {
  switch (tree.kind) {
    case "string":
      return { stringValue: tree.text };
    case "bool":
      return { boolValue: tree.value };
    case "int":
      return { intValue: tree.asText ? String(tree.value) : new Digits(String(tree.value)) };
    case "double":
      return { doubleValue: Number.isFinite(tree.value) ? tree.value : String(tree.value) };
    case "bytes":
      return { bytesValue: tree.base64 };
    case "nothing":
      return tree.form === "empty" ? {} : tree.form === "null" ? null : undefined;
    case "array":
      // An element of a list cannot be left out.
      return { arrayValue: { values: tree.values.map((value) => wireValue(value) ?? {}) } };
    case "kvlist":
      return { kvlistValue: { values: wireMembers(tree.members) } };
  }
}

export function wireMembers(list: readonly Member[]): unknown[] {
  return list.map(([key, value]) => ({ key, value: wireValue(value) }));
}

/** What the tree means, as a plain value. */
export function plainValue(tree: ValueTree): unknown {
  switch (tree.kind) {
    case "string":
      return tree.text;
    case "bool":
      return tree.value;
    case "int":
      return Number(tree.value);
    case "double":
      return Number.isFinite(tree.value) ? tree.value : String(tree.value);
    case "bytes":
      return tree.base64;
    case "nothing":
      return null;
    case "array":
      return tree.values.map(plainValue);
    case "kvlist":
      return Object.fromEntries(tree.members.map(([key, value]) => [key, plainValue(value)]));
  }
}

/** The attributes that members become: lists of members flattened with dots. */
export function flattened(prefix: string, list: readonly Member[]): [string, unknown][] {
  return list.flatMap(([key, value]): [string, unknown][] =>
    value.kind === "kvlist" && value.members.length > 0
      ? flattened(`${prefix}${key}.`, value.members)
      : [[prefix + key, plainValue(value)]],
  );
}

/** How a JSON text is written: the same value in many ways. */
interface JsonStyle {
  /** Orders the members of an object by what it answers. */
  readonly rank: (name: string) => number;
  readonly space: string;
  /** Whether the first character of every text is written as an escape. */
  readonly escapes: boolean;
}

export const jsonStyle: fc.Arbitrary<JsonStyle> = fc.record({
  rank: fc.nat({ max: 1000 }).map((seed) => (key: string) => (Bun.hash.crc32(key, seed) >>> 0) % 997),
  space: fc.constantFrom("", " ", "\n\t"),
  escapes: fc.boolean(),
});

export function writeJson(value: unknown, style: JsonStyle): string {
  const { space } = style;
  if (typeof value === "string") return writeText(value, style);
  if (value instanceof Digits) return value.digits;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${space}${value.map((item) => writeJson(item, style)).join(`${space},${space}`)}${space}]`;
  const parts = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => style.rank(a) - style.rank(b))
    .map(([key, member]) => `${writeText(key, style)}${space}:${space}${writeJson(member, style)}`);
  return `{${space}${parts.join(`${space},${space}`)}${space}}`;
}

function writeText(value: string, { escapes }: JsonStyle): string {
  const first = value.charCodeAt(0);
  if (!escapes || value === "" || (first >= 0xd800 && first < 0xe000)) return JSON.stringify(value);
  return `"\\u${first.toString(16).padStart(4, "0")}${JSON.stringify(value.slice(1)).slice(1)}`;
}
