import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mask } from "../../../ingest/masking/mask.ts";
import { RawMasker } from "../../../ingest/masking/raw-masker.ts";
import { ACCESS_LINES } from "../recognise/corpus/access-lines.ts";
import { PRODUCT_LINES } from "../recognise/corpus/product-lines.ts";
import { SYSLOG_LINES } from "../recognise/corpus/syslog-lines.ts";
import { TEXT_LINES } from "../recognise/corpus/text-lines.ts";

const ROOT = join(import.meta.dir, "../../..");
const FOLDERS_OF_DECODERS = [
  "ingest/decode",
  "ingest/recognise",
  "ingest/record",
  "src/domains/logs/receive",
];
/** A text of code that can be the name of an attribute. */
const DOTTED_NAME = /"([a-z][a-z_0-9]*(?:\.[a-z][a-z_0-9]*)+)"/g;
/** Names that senders give, of what is masked as a column then or stands in a record behind this very name; a form and an example. */
const READ_NAMES = new Set([
  ...["service.name", "host.name", "host.hostname", "trace.id", "span.id", "jsonpayload.message"],
  "java.util.logging",
  ...["queue.length", "gen_ai.request.model", "gen_ai.usage.input_tokens"],
]);

const masker = (...masks: Partial<Mask>[]): RawMasker =>
  new RawMasker(masks.map((mask) => ({ fields: [], patterns: [], ...mask })));

describe("a record that could not be read", () => {
  const both = masker({ patterns: ["card", "email"] }, { fields: ["user.mail", "pin"] });

  test.each([
    [
      '{"attrs":{"user":{"mail":"x","n":12345678901234567890}}}',
      '{"attrs":{"user":{"mail":"[masked]","n":12345678901234567890}}}',
    ],
    ['[{"pin":[1,2]},{"pin":null}]', '[{"pin":"[masked]"},{"pin":"[masked]"}]'],
    ['{"a":"ann\\u0040example.org","b":4111111111111111}', '{"a":"[email]","b":"[card]"}'],
    [
      '{"attributes":[{"key":"pin","value":{"stringValue":"9"}}]}',
      '{"attributes":[{"key":"pin","value":"[masked]"}]}',
    ],
    ['{"pin":"1","pin":"2"', '{"pin":[masked],"pin":[masked]'],
    ['{"b":"4111111111111111","b":1}', '{"b":"[card]","b":1}'],
    ["user.mail=x pin: '9 9' ok", "user.mail=[masked] pin: [masked] ok"],
    ['{"log":"pin=77"}', '{"log":"pin=[masked]"}'],
    ["pin => [1, 2] ok", "pin => [masked] ok"],
    ['{"pin":[1,{"a":"]"}],"b":', '{"pin":[masked],"b":'],
    ['{"pin":{"a":1,\n"b":', '{"pin":[masked]'],
    ["pin='9\n9", "pin=[masked]"],
    ["nothing of it { spin=1", "nothing of it { spin=1"],
    ["p\0i\0n\0=\x009", "[masked]"],
  ])("%j is kept as %j", (raw, kept) => {
    expect(both.text(raw)).toBe(kept);
  });

  test.each([
    ['{"note":"{\\"password\\":[\\"leak8\\"]}"}', '{"note":"{\\"password\\":[password]}"}'],
    ['{"note":"{\\"password\\":{\\"v\\":\\"leak8\\"}}', '{"note":"{\\"password\\":[password]}'],
    ['{"headers":{"X-Api-Key":"leak8"}}', '{"headers":{"X-Api-Key":"[masked]"}}'],
    ['{"user":"u","password":["leak8', '{"user":"u","password":[password]'],
  ])("with a secret in it, %j, is kept as %j, whether it can be parsed or not", (raw, kept) => {
    expect(masker({ patterns: ["password"] }).text(raw)).toBe(kept);
  });

  test.each([
    [{ ssn: { from: "person.id" } }, '{"person":{"id":"9"},"id":1}', '{"person":{"id":"[masked]"},"id":1}'],
    [
      { ssn: { from: "a[0].b", fromDefault: "nr" } },
      '{"a":[{"b":9}],"nr":9}',
      '{"a":[{"b":"[masked]"}],"nr":"[masked]"}',
    ],
    [{ card: { from: "pay" } }, '{"pay":{"pin":"9","n":1}}', '{"pay":{"pin":"[masked]","n":1}}'],
    [{ other: { from: "x" } }, '{"x":"9","ssn":"9"}', '{"x":"9","ssn":"[masked]"}'],
    [{ ssn: { const: "y" } }, '{"x":"9"}', '{"x":"9"}'],
  ])("of a source with the fields %j: %j is kept as %j", (fields, raw, kept) => {
    const ofFields = masker({ fields: ["ssn", "card.pin"] });
    expect(ofFields.ofSource({ format: "json", mapping: { fields } }).text(raw)).toBe(kept);
  });

  test("of a source whose fields have no names in the record is not kept where a field is masked", () => {
    for (const format of ["text", "cef"] as const) {
      expect(
        masker({ fields: ["ssn"] })
          .ofSource({ format, mapping: {} })
          .text("9"),
      ).toBe("[masked]");
      expect(
        masker({ patterns: ["card"] })
          .ofSource({ format, mapping: {} })
          .text("9"),
      ).toBe("9");
    }
  });

  test("is masked where a sender marks a name as its own, as GELF does", () => {
    expect(both.text('{"_pin":"9","a_pin":"9"}')).toBe('{"_pin":"[masked]","a_pin":"9"}');
    expect(both.text("_pin=9 a_pin=9")).toBe("_pin=[masked] a_pin=9");
  });

  test("is not kept at all where a column is masked, which could stand anywhere in it", () => {
    expect(masker({ fields: ["message"] }).text('{"msg":"x"}')).toBe("[masked]");
  });

  test.each([...TEXT_LINES, ...PRODUCT_LINES, ...SYSLOG_LINES, ...ACCESS_LINES])(
    "has nothing left of a field that the server has named, as in %s",
    (line, { message, attributes = {} }) => {
      for (const [name, value] of Object.entries(attributes)) {
        const text = String(value);
        const isElsewhere =
          message.includes(text) || Object.values(attributes).filter((v) => v === value).length > 1;
        if (text.length < 2 || !line.includes(text) || isElsewhere) continue;
        const kept = masker({ fields: [name] }).text(line);
        expect({ name, kept, isLeft: kept.includes(text) }).toMatchObject({ isLeft: false });
      }
    },
  );

  test("is not kept where a masked field is called as decoders and recogniser themselves call something", () => {
    const named = FOLDERS_OF_DECODERS.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .flatMap((file) => [...readFileSync(join(ROOT, folder, file), "utf8").matchAll(DOTTED_NAME)]),
    ).map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(50);
    const isHandled = (name: string): boolean =>
      READ_NAMES.has(name) || masker({ fields: [name] }).text("9") === "[masked]";
    expect([...new Set(named)].filter((name) => !isHandled(name))).toEqual([]);
  });

  test("is not kept where a field is masked and its names stand apart from its values", () => {
    const ofFields = masker({ fields: ["ssn"] });
    const packed = new TextDecoder().decode(Uint8Array.of(0x81, 0xa3, 0x73, 0x73, 0x6e, 0xa1, 0x39));
    expect(ofFields.text(packed)).toBe("[masked]");
    expect(ofFields.text("CEF:0|v|p|1|1|n|5|cs1=9 cs1Label=ssn")).toBe("[masked]");
    expect(masker({ patterns: ["card"] }).text("CEF:0|v|p|1|1|n|5|cs1=9")).toBe("CEF:0|v|p|1|1|n|5|cs1=9");
  });

  test("has its place and its reason masked too, with what the reason shows of it", () => {
    const raw = new TextEncoder().encode("pin=9");
    const record = { place: "/0/ann@example.org", reason: 'the time "4711 is none', raw };
    const masked = both.record(record);
    expect(masked).toMatchObject({ place: "/0/[email]", reason: 'the time "[masked]"' });
    expect(new TextDecoder().decode(masked.raw ?? undefined)).toBe("pin=[masked]");
    expect(both.record({ ...record, raw: null }).raw).toBe(null);
    const clean = new TextEncoder().encode("nothing \xff");
    expect(both.record({ ...record, raw: clean }).raw).toBe(clean);
  });
});
