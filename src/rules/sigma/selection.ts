import { isIP } from "node:net";
import { VALUE_MAX_DEPTH } from "./limits.ts";
import { type Place, SigmaRefusal } from "./problem.ts";
import {
  concatenated,
  MANY,
  plainPattern,
  readPattern,
  type TextPattern,
  withAnyDash,
} from "./text-pattern.ts";
import {
  allOfTrees,
  anyOfTrees,
  type FieldRelation,
  type NumberOrder,
  type SigmaTest,
  type SigmaTree,
} from "./tree.ts";
import { isMap } from "./values.ts";

/** What the modifiers behind a field's name say. */
interface Modifiers {
  readonly isAll: boolean;
  readonly isCased: boolean;
  readonly isNegated: boolean;
  readonly relation: FieldRelation;
  readonly kind: "text" | "regex" | "network" | "exists" | "field" | NumberOrder;
  readonly flags: string;
  /** The bytes of what is written in base64. */
  readonly encode: (text: string) => Buffer;
  /** Done to each value, in this order. */
  readonly changes: readonly Change[];
}

/** A value becomes others, any of which may stand there. */
type Change = (pattern: TextPattern, at: Place) => readonly TextPattern[];

/**
 * The condition of a selection: a map holds where all of its fields do, a list where one of its members does.
 * Source: Sigma specification 2, "Search-Identifier". Throws SigmaRefusal.
 */
export function readSelection(value: unknown, at: Place, depth = VALUE_MAX_DEPTH): SigmaTree {
  if (depth === 0) throw new SigmaRefusal(at, "is nested too deep.");
  if (Array.isArray(value)) {
    if (value.length === 0) throw new SigmaRefusal(at, "is empty.");
    return anyOfTrees(
      value.map((each, i) =>
        isMap(each) ? readSelection(each, [...at, i], depth - 1) : wordTest(each, [...at, i]),
      ),
    );
  }
  if (!isMap(value)) return wordTest(value, at);
  const fields = Object.entries(value);
  if (fields.length === 0) throw new SigmaRefusal(at, "is empty.");
  return allOfTrees(fields.map(([name, values]) => readField(name, values, [...at, name])));
}

function wordTest(value: unknown, at: Place): SigmaTree {
  return testsOfValues(null, [value], readModifiers([], at), [at]);
}

function readField(written: string, values: unknown, at: Place): SigmaTree {
  const [name = "", ...modifiers] = written.split("|");
  const list: readonly unknown[] = Array.isArray(values) ? values : [values];
  if (list.length === 0) throw new SigmaRefusal(at, "has no values.");
  const places = list.map((_, i) => (Array.isArray(values) ? [...at, i] : at));
  return testsOfValues(name === "" ? null : name, list, readModifiers(modifiers, at), places);
}

function testsOfValues(
  field: string | null,
  values: readonly unknown[],
  modifiers: Modifiers,
  places: readonly Place[],
): SigmaTree {
  const tests = values.map((value, i) => testOf(field, value, modifiers, places[i] ?? []));
  const tree = modifiers.isAll ? allOfTrees(tests) : anyOfTrees(tests);
  return modifiers.isNegated ? { kind: "not", part: tree } : tree;
}

function testOf(field: string | null, value: unknown, modifiers: Modifiers, at: Place): SigmaTree {
  const { kind, isCased, relation, flags } = modifiers;
  const test = (question: SigmaTest["question"]): SigmaTest => ({
    ...{ kind: "test", field, question, place: at },
  });
  if (field === null && kind !== "text" && kind !== "regex")
    throw new SigmaRefusal(at, "is asked of no field.");
  if (kind === "exists") {
    if (typeof value !== "boolean") throw new SigmaRefusal(at, "has to be true or false.");
    const exists = test({ kind: "exists" });
    return value ? exists : { kind: "not", part: exists };
  }
  if (value === null) return { kind: "not", part: test({ kind: "exists" }) };
  const text = textOf(value, at);
  if (kind === "regex") return test({ kind: "regex", pattern: text, flags });
  if (kind === "network") return test({ kind: "network", ...networkOf(text, at) });
  if (kind === "field") return test({ kind: "field", field: text, relation, isCased });
  if (kind !== "text") {
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number)) throw new SigmaRefusal(at, "has to be a number.");
    return test({ kind: "order", order: kind, number });
  }
  const changed = modifiers.changes.reduce<readonly TextPattern[]>(
    (patterns, change) => patterns.flatMap((pattern) => change(pattern, at)),
    [typeof value === "string" ? readPattern(text) : plainPattern(text)],
  );
  return anyOfTrees(
    changed.map((pattern) =>
      test({ kind: "text", pattern: related(pattern, field === null ? "contains" : relation), isCased }),
    ),
  );
}

function textOf(value: unknown, at: Place): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
    return String(value);
  throw new SigmaRefusal(at, "has to be a text, a number, true, false or null.");
}

function networkOf(text: string, at: Place): { network: string; version: 4 | 6 } {
  const [address = "", prefix = "", ...rest] = text.split("/");
  const version = isIP(address);
  const most = version === 4 ? 32 : 128;
  if (
    (version !== 4 && version !== 6) ||
    rest.length > 0 ||
    !/^\d{1,3}$/.test(prefix) ||
    Number(prefix) > most
  )
    throw new SigmaRefusal(at, "has to be a range of addresses such as 10.0.0.0/8.");
  return { network: text, version };
}

function related(pattern: TextPattern, relation: FieldRelation): TextPattern {
  if (relation === "equals") return pattern;
  return concatenated(
    relation === "startswith" ? [] : [MANY],
    pattern,
    relation === "endswith" ? [] : [MANY],
  );
}

const PLAIN: Modifiers = {
  ...{ isAll: false, isCased: false, isNegated: false },
  ...{ relation: "equals", kind: "text", flags: "", changes: [], encode: (text) => Buffer.from(text) },
};

const UTF16: Readonly<Record<string, (text: string) => Buffer>> = {
  wide: (text) => Buffer.from(text, "utf16le"),
  utf16le: (text) => Buffer.from(text, "utf16le"),
  utf16be: (text) => Buffer.from(text, "utf16le").swap16(),
  utf16: (text) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]),
};

function readModifiers(names: readonly string[], at: Place): Modifiers {
  let known = PLAIN;
  for (const [i, name] of names.entries()) {
    // Each of some makes three values of one.
    if (names.indexOf(name) < i) throw new SigmaRefusal(at, `has the modifier ${name} twice.`);
    known = withModifier(known, name, at);
  }
  return known;
}

/** Source: Sigma specification 2, appendix of modifiers. Throws SigmaRefusal. */
function withModifier(known: Modifiers, name: string, at: Place): Modifiers {
  const { encode, changes } = known;
  const utf16 = UTF16[name];
  if (utf16 !== undefined) return { ...known, encode: utf16 };
  switch (name) {
    case "all":
      return { ...known, isAll: true };
    case "cased":
      return { ...known, isCased: true };
    case "neq":
      return { ...known, isNegated: true };
    case "contains":
    case "startswith":
    case "endswith":
      return { ...known, relation: name };
    case "re":
      return { ...known, kind: "regex" };
    case "i":
    case "m":
    case "s":
      if (known.kind !== "regex") throw new SigmaRefusal(at, `has the modifier ${name} without re.`);
      return { ...known, flags: known.flags + name };
    case "cidr":
      return { ...known, kind: "network" };
    case "exists":
      return { ...known, kind: "exists" };
    case "fieldref":
      return { ...known, kind: "field" };
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return { ...known, kind: name };
    case "windash":
      return { ...known, changes: [...changes, (pattern) => [withAnyDash(pattern)]] };
    case "base64":
      return {
        ...{ ...known, isCased: true },
        changes: [...changes, (pattern, place) => [base64Of(pattern, place, encode)]],
      };
    case "base64offset":
      return {
        ...{ ...known, isCased: true },
        changes: [...changes, (pattern, place) => base64Offsets(pattern, place, encode)],
      };
    case "expand":
      throw new SigmaRefusal(at, "asks for a placeholder, whose values are not in the rule.");
    default:
      throw new SigmaRefusal(at, `has the modifier ${name}, which there is not.`);
  }
}

function bytesOf(pattern: TextPattern, at: Place, encode: (text: string) => Buffer): Buffer {
  const text = pattern.map((piece) => {
    if (piece.kind !== "text") throw new SigmaRefusal(at, "has a wildcard in what is to be encoded.");
    return piece.text;
  });
  return encode(text.join(""));
}

function base64Of(pattern: TextPattern, at: Place, encode: (text: string) => Buffer): TextPattern {
  return plainPattern(bytesOf(pattern, at, encode).toString("base64"));
}

/** How a text may stand in something encoded, wherever it begins there: without the characters that hold bits of its neighbours. */
function base64Offsets(pattern: TextPattern, at: Place, encode: (text: string) => Buffer): TextPattern[] {
  const bytes = bytesOf(pattern, at, encode);
  return [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
    const from = [0, 2, 3][offset] ?? 0;
    const to = Math.floor((whole.length * 8) / 6);
    return plainPattern(whole.toString("base64").slice(from, to));
  });
}
