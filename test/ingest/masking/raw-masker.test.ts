import { describe, expect, test } from "bun:test";
import type { Mask } from "../../../ingest/masking/mask.ts";
import { RawMasker } from "../../../ingest/masking/raw-masker.ts";

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
    ["nothing of it { spin=1", "nothing of it { spin=1"],
    ["p\0i\0n\0=\x009", "[masked]"],
  ])("%j is kept as %j", (raw, kept) => {
    expect(both.text(raw)).toBe(kept);
  });

  test("is not kept at all where a column is masked, which could stand anywhere in it", () => {
    expect(masker({ fields: ["message"] }).text('{"msg":"x"}')).toBe("[masked]");
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
