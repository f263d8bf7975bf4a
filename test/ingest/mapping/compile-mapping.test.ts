import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isJsonObject, type JsonObject, tryParseJson } from "../../../ingest/decode/json-body.ts";
import { compileMapping } from "../../../ingest/mapping/compile-mapping.ts";
import type { Mapping } from "../../../ingest/mapping/mapping.ts";
import { type MappedEntry, mapRecord } from "../../../ingest/mapping/preview.ts";
import { mappingIssues } from "../../../ingest/mapping/validate-mapping.ts";
import { naiveEntry } from "./naive-mapping.ts";

function objectOf(text: string): JsonObject {
  const parsed = tryParseJson(text, 1000);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new Error(`${text} is no JSON object`);
  return parsed.value;
}

function entryOf(mapping: Mapping, record: object | string): MappedEntry {
  expect(mappingIssues(mapping)).toEqual([]);
  const json = typeof record === "string" ? record : JSON.stringify(record);
  const { entry, problem } = mapRecord(compileMapping(mapping), objectOf(json));
  if (entry === null) throw new Error(problem);
  return entry;
}

function problemOf(mapping: Mapping, record: object): string | null {
  return mapRecord(compileMapping(mapping), objectOf(JSON.stringify(record))).problem;
}

const FIELDS = { message: { from: "m" } } as const;

describe("a path", () => {
  const at = (from: string, record: object): unknown =>
    entryOf({ keepUnmapped: false, fields: { found: { from } } }, record).attrs.found;

  test("leads through objects and arrays", () => {
    expect(at("a.b.c", { a: { b: { c: 1 } } })).toBe(1);
    expect(at("a[1].b", { a: [{ b: 1 }, { b: 2 }] })).toBe(2);
    expect(at("a.1.b", { a: [{ b: 1 }, { b: 2 }] })).toBe(2);
    expect(at("a.1", { a: { "1": "key" } })).toBe("key");
    expect(at("a[7]", { a: [1] })).toBeUndefined();
    expect(at("a.-1", { a: [1] })).toBeUndefined();
    expect(at("a.length", { a: [1] })).toBeUndefined();
    expect(at("a.b", { a: "text" })).toBeUndefined();
  });

  test("prefers a whole key with dots, in every object on the way", () => {
    expect(at("log.level", { "log.level": "whole", log: { level: "nested" } })).toBe("whole");
    expect(at("attributes.service.name", { attributes: { "service.name": "api" } })).toBe("api");
    expect(at("log\\.level.name", { "log.level": { name: "x" } })).toBe("x");
    expect(at("back\\\\slash", { "back\\slash": "x" })).toBe("x");
  });

  test("knows own properties only", () => {
    for (const from of ["constructor", "__proto__", "toString.name", "a.constructor.name", "hasOwnProperty"])
      expect(at(from, { a: {} })).toBeUndefined();
    const own = '{"__proto__":{"a":1},"constructor":"c"}';
    const mapping = { fields: { p: { from: "__proto__.a" }, c: { from: "constructor" } } };
    expect(entryOf(mapping, own).attrs).toEqual({ p: 1, c: "c" });
  });
});

describe("a field", () => {
  test("takes from, else fromDefault, else default; null counts as absent", () => {
    const mapping: Mapping = {
      keepUnmapped: false,
      fields: { x: { from: "a", fromDefault: "b", default: "d" } },
    };
    expect(entryOf(mapping, { a: 1, b: 2 }).attrs.x).toBe(1);
    expect(entryOf(mapping, { a: null, b: 2 }).attrs.x).toBe(2);
    expect(entryOf(mapping, { a: null }).attrs.x).toBe("d");
    expect(entryOf(mapping, { a: "" }).attrs.x).toBe("");
    expect(entryOf({ keepUnmapped: false, fields: { x: { from: "a", const: 0 } } }, { a: 1 }).attrs.x).toBe(
      0,
    );
  });

  test("an empty text is no service, message, source or host", () => {
    const field = { from: "a", fromDefault: "b" };
    const mapping: Mapping = { fields: { service: field, message: field, source: field, host: field } };
    expect(entryOf(mapping, { a: "", b: "x" })).toMatchObject({
      service: "x",
      message: "x",
      source: "x",
      host: "x",
    });
  });

  test("is put into lower case first, then translated; what the table has not stays", () => {
    const x = { from: "a", lowercase: true, map: { Yes: "1", no: "0" } };
    const mapping: Mapping = { keepUnmapped: false, fields: { x } };
    const values = ["YES", "No", "Perhaps", 5, true, { A: "B" }].map((a) => entryOf(mapping, { a }).attrs);
    expect(values).toEqual([{ x: "1" }, { x: "0" }, { x: "perhaps" }, { x: 5 }, { x: true }, { "x.A": "B" }]);
    const exact: Mapping = {
      keepUnmapped: false,
      fields: { x: { from: "a", map: { "30": "info", true: "on" } } },
    };
    expect([30, "30", true, "INFO"].map((a) => entryOf(exact, { a }).attrs.x)).toEqual([
      "info",
      "info",
      "on",
      "INFO",
    ]);
    const inherited: Mapping = { keepUnmapped: false, fields: { x: { from: "a", map: {} } } };
    expect(entryOf(inherited, { a: "constructor" }).attrs.x).toBe("constructor");
  });

  test("that is a level is read as a word; an unknown one stays an attribute", () => {
    const level = { from: "sev", map: { "17": "error" }, default: "info" };
    expect(entryOf({ fields: { level, ...FIELDS } }, { m: "x", sev: 17 })).toMatchObject({
      level: "error",
      attrs: {},
    });
    expect(entryOf({ fields: { level, ...FIELDS } }, { m: "x", sev: "WARNING" }).level).toBe("warn");
    expect(entryOf({ fields: { level, ...FIELDS } }, { m: "x", sev: "odd" })).toMatchObject({
      level: "info",
      attrs: { sev: "odd" },
    });
    expect(entryOf({ fields: { level: { from: "sev" }, ...FIELDS } }, { m: "x", sev: 17 })).toMatchObject({
      level: null,
      attrs: { sev: 17 },
    });
  });

  test("that is a trace or span id is hexadecimal, also as a UUID or in X-Ray's form", () => {
    const mapping: Mapping = {
      fields: { trace_id: { from: "t" }, spanId: { from: "s" }, event_id: { from: "e" } },
    };
    expect(
      entryOf(mapping, { t: "1-5759E988-bd862e3fe1be46a994272793", s: "53995C3F42CD8AD8", e: 17 }),
    ).toMatchObject({
      traceId: "5759e988bd862e3fe1be46a994272793",
      spanId: "53995c3f42cd8ad8",
      event_id: "17",
    });
    expect(entryOf(mapping, { t: "0af76519-16cd-43dd-8448-eb211c80319c", s: "no" })).toMatchObject({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: null,
      attrs: { s: "no" },
    });
  });

  test("of an unusual name is an attribute, and hides the record's own of that name", () => {
    const fields = { __proto__: undefined, "user.name": { from: "actor.login" }, team: { const: "shop" } };
    expect(
      entryOf({ fields: JSON.parse(JSON.stringify(fields)) }, { actor: { login: "ana" }, team: "x" }).attrs,
    ).toEqual({
      "user.name": "ana",
      team: "shop",
    });
    const odd: Mapping = { fields: JSON.parse('{"__proto__":{"from":"a"},"constructor":{"const":1}}') };
    expect(Object.entries(entryOf(odd, { a: "x" }).attrs)).toEqual([
      ["__proto__", "x"],
      ["constructor", 1],
    ]);
  });
});

describe("what the mapping does not name", () => {
  test("is found by the well-known keys, and the rest is kept as attributes", () => {
    const mapping: Mapping = { fields: { service: { const: "billing" } } };
    const record = {
      msg: "paid",
      level: "warn",
      time: "2026-01-02T03:04:05Z",
      user: { id: 7 },
      service: "x",
    };
    expect(entryOf(mapping, record)).toEqual({
      ts: "2026-01-02T03:04:05.000Z",
      message: "paid",
      level: "warn",
      service: "billing",
      source: null,
      host: null,
      traceId: null,
      spanId: null,
      event_id: null,
      attrs: { "user.id": 7, service: "x" },
    });
  });

  test("is left out when the mapping says so", () => {
    const mapping: Mapping = { keepUnmapped: false, fields: { message: { from: "msg" } } };
    expect(entryOf(mapping, { msg: "paid", level: "warn", user: 1 })).toMatchObject({
      message: "paid",
      level: null,
      attrs: {},
    });
    expect(entryOf({ keepUnmapped: false }, { b: 1 }).message).toBe('{"b":1}');
  });

  test("is kept where a value was used only in part or not at all", () => {
    const mapping: Mapping = {
      fields: { message: { from: "a.b", fromDefault: "c" }, x: { from: "list[0]" } },
    };
    expect(entryOf(mapping, { a: { b: "m", d: 1 }, c: "other", list: [1, 2] }).attrs).toEqual({
      x: 1,
      "a.d": 1,
      c: "other",
      list: [1, 2],
    });
    expect(entryOf(mapping, { a: { b: "m" }, list: [] }).attrs).toEqual({ list: [] });
    expect(entryOf(mapping, { c: "m", a: {} }).attrs).toEqual({ a: {} });
  });

  test("keeps the digits of large numbers", () => {
    const text = '{"m":"x","id":9007199254740993,"n":{"id":12345678901234567890}}';
    const mapping: Mapping = { fields: { ...FIELDS, event_id: { from: "id" } } };
    expect(entryOf(mapping, text).event_id).toBe("9007199254740993");
  });
});

describe("a message", () => {
  test("comes from its field, else its template, else there is none and the record is refused", () => {
    const both: Mapping = { fields: { message: { from: "m" } }, messageTemplate: "{a.b} {{x}} {c}" };
    expect(entryOf(both, { m: "field", a: { b: 1 } }).message).toBe("field");
    expect(entryOf(both, { a: { b: 1 } }).message).toBe("1 {x}");
    expect(problemOf(both, { d: 1 })).toBe("there is no message at `m`");
    expect(entryOf({ messageTemplate: "{a}" }, { b: 1 }).message).toBe('{"b":1}');
    expect(entryOf({ messageTemplate: "{a} -> {c}" }, { a: "x", c: [1], msg: "other" })).toMatchObject({
      message: "x -> [1]",
      attrs: { a: "x", c: [1], msg: "other" },
    });
    expect(entryOf({ fields: { message: { from: "m", default: "none" } } }, {}).message).toBe("none");
    expect(entryOf({ fields: { message: { from: "m" } } }, { m: { a: 1 } }).message).toBe('{"a":1}');
  });
});

/** Values of every shape under few names, so that paths often lead somewhere. */
const keys = fc.constantFrom("a", "b", "c", "a.b", "b.c", "0", "__proto__", "constructor");
const scalars = fc.constantFrom<unknown>("x", "Y", "", "info", 0, 5, -1.5, true, false, null);
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(keys, tie("value")), { maxLength: 4 }).map((members) => objectText(members)),
  ),
})).value;

/** An object with own members of any name, as only a parser makes it. */
function objectText(members: readonly (readonly [string, unknown])[]): unknown {
  return JSON.parse(
    `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`,
  );
}

const records = fc.array(fc.tuple(keys, values), { maxLength: 6 }).map(objectText);
const paths = fc
  .array(fc.constantFrom("a", "b", "c", "0", "1", "__proto__", "constructor"), { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join("."));
const constants = fc.constantFrom("k", "warn", 3, true);
const readFields = fc.record(
  {
    from: paths,
    fromDefault: paths,
    default: constants,
    map: fc.dictionary(fc.constantFrom("x", "y", "Y", "5", "true", "info"), fc.constantFrom("error", "z"), {
      maxKeys: 3,
    }),
    lowercase: fc.boolean(),
  },
  { requiredKeys: ["from"] },
);
const fieldMappings = fc.oneof(
  { weight: 5, arbitrary: readFields },
  { weight: 1, arbitrary: fc.record({ from: paths, const: constants }) },
);
const mappings: fc.Arbitrary<Mapping> = fc.record(
  {
    fields: fc.dictionary(
      fc.constantFrom("message", "level", "service", "host", "out", "a.b", "constructor"),
      fieldMappings,
      { maxKeys: 5 },
    ),
    timestamp: fc.record(
      { from: paths, fromDefault: paths, parse: fc.constantFrom("auto", "iso") },
      { requiredKeys: ["from"] },
    ),
    keepUnmapped: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe("any mapping of any record", () => {
  test("gives, compiled, what it gives interpreted word for word", () => {
    fc.assert(
      fc.property(mappings, records, (mapping: Mapping, record) => {
        if (!isJsonObject(record)) throw new Error("no object");
        const { entry, problem } = mapRecord(compileMapping(mapping), record);
        expect(entry ?? problem).toEqual(naiveEntry(mapping, record));
      }),
      { numRuns: 1500 },
    );
  });

  test("says the same of a record whatever came before it", () => {
    fc.assert(
      fc.property(
        mappings,
        fc.array(records, { minLength: 2, maxLength: 5 }),
        (mapping: Mapping, several) => {
          const shared = compileMapping(mapping);
          for (const record of several) {
            if (!isJsonObject(record)) throw new Error("no object");
            expect(mapRecord(shared, record)).toEqual(mapRecord(compileMapping(mapping), record));
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
