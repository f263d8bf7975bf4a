/** A file comes to what its rows say, each indicator once, whatever the format and however long it is; what is no such file is refused whole. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { JsonPart } from "../../../src/domains/iocs/json-part.ts";
import { FILE_FORMATS, type FileFormat, readFile } from "../../../src/domains/iocs/read-file.ts";
import { readIndicator } from "../../../src/entities/indicators/indicator-value.ts";
import { FileProblem } from "../../../src/kql/kept/delimited-rows.ts";

const MD5 = "d41d8cd98f00b204e9800998ecf8427e";

/** All that a file says, its indicators put together from pieces of so many. */
async function read(format: FileFormat, text: string, most = 3) {
  const { rows, indicators, errors, rejected, pieces } = await readFile(format, Buffer.from(text));
  const some = await Array.fromAsync(pieces(most));
  for (const piece of some) expect(piece.length).toBeWithin(1, most + 1);
  const all = some.flat();
  expect(all).toHaveLength(indicators);
  expect(errors).toHaveLength(Math.min(rejected, 100));
  return { rows, indicators: all, rejected: errors };
}

describe("a file", () => {
  test("in CSV names its columns, or begins with values; each row that is none says why", async () => {
    const named = await read(
      "csv",
      `# a feed\nType,Indicator,severity,expiresAt,confidence\ndomain,evil[.]example,HIGH,2030-01-01,80\nurl,http://x.example/a,,,\nmd5,${MD5},worst,,\nip,1.2.3.4,,soon,\nip,1.2.3.5,,,200\n,,,,\n,2.3.4.5\n`,
    );
    expect(named.indicators).toMatchObject([
      {
        type: "domain",
        value: "evil.example",
        severity: "high",
        expiresAt: "2030-01-01T00:00:00.000Z",
        confidence: 80,
      },
      { type: "ip", value: "2.3.4.5", severity: null },
    ]);
    expect(named.rejected.map(({ place }) => place)).toEqual(["row 4", "row 5", "row 6", "row 7", "row 8"]);
    const plain = await read("csv", `1.2.3.4\nevil.example,domain\n${MD5}\nnothing\n1.2.3.4`);
    expect(plain).toMatchObject({
      rows: 5,
      indicators: { length: 3 },
      rejected: [{ place: "row 4", value: "nothing" }],
    });
  });

  test("of STIX 2.1 has indicators whose pattern is one thing or any of several", async () => {
    const indicator = (pattern: string, more: object = {}) => ({
      type: "indicator",
      pattern,
      pattern_type: "stix",
      ...more,
    });
    const bundle = {
      type: "bundle",
      objects: [
        { type: "malware", name: "x" },
        indicator("[ipv4-addr:value = '198.51.100.0/24'] OR [domain-name:value = 'Evil.example']", {
          name: "C2",
          confidence: 70,
        }),
        indicator(`[file:hashes.MD5 = '${MD5}' OR file:hashes.'SHA-256' = '${"a".repeat(64)}']`, {
          valid_until: "2030-01-01T00:00:00Z",
        }),
        indicator("[ipv4-addr:value = '1.2.3.4' AND domain-name:value = 'x.example']"),
        indicator("[url:value = 'https://x.example/a']"),
        indicator("[ipv4-addr:value = '1.2.3.4']", { revoked: true }),
        indicator("rule x {}", { pattern_type: "yara" }),
      ],
    };
    const bundled = await read("stix", JSON.stringify(bundle));
    expect(bundled.indicators.map(({ value }) => value)).toEqual([
      "198.51.100.0/24",
      "evil.example",
      MD5,
      "a".repeat(64),
    ]);
    expect(bundled.indicators[0]).toMatchObject({ description: "C2", confidence: 70 });
    expect(bundled.rejected.map(({ place }) => place)).toEqual([3, 4, 5, 6].map((i) => `/objects/${i}`));
  });

  test("of MISP has attributes of events and of their objects", async () => {
    const attribute = (type: string, value: string, more: object = {}) => ({
      type,
      value,
      to_ids: true,
      ...more,
    });
    const Event = {
      info: "A campaign",
      Attribute: [
        attribute("ip-dst|port", "1.2.3.4|443"),
        attribute("domain|ip", "evil.example|2.3.4.5", { comment: "C2" }),
        attribute("url", "https://x.example/a"),
        attribute("domain", "seen.example", { to_ids: false }),
      ],
      Object: [{ Attribute: [attribute("filename|md5", `a.exe|${MD5}`)] }],
    };
    for (const json of [{ Event }, [{ Event }], { response: [{ Event }] }]) {
      const event = await read("misp", JSON.stringify(json));
      expect(event.indicators.map(({ value }) => value)).toEqual(["1.2.3.4", "evil.example", "2.3.4.5", MD5]);
      expect(event.indicators[1]).toMatchObject({ source: "A campaign", description: "C2" });
      expect(event.rejected).toHaveLength(2);
    }
  });

  test("of any text is read or refused, and what is read is an indicator", async () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.array(fc.string())).map((rows) => rows.map((row) => row.join()).join("\n")),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FILE_FORMATS), text, async (format, given) => {
        const file = await read(format, given).catch((error: unknown) => {
          if (!(error instanceof FileProblem)) throw error;
          return null;
        });
        for (const { type, value } of file?.indicators ?? [])
          expect(readIndicator(type, value)).toMatchObject({ ok: true, indicator: { value } });
      }),
      { numRuns: 300 },
    );
  });
});

describe("a long file", () => {
  test("has each indicator once, as its last row says it, however it is cut into pieces", async () => {
    const row = fc.record({
      value: fc.constantFrom("1.2.3.4", "01.2.3.4", "Evil.example", "evil[.]example", "2.3.4.5", MD5, "none"),
      severity: fc.constantFrom("low", "high", "", "worst"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, most) => {
          const text = rows.map(({ value, severity }) => `${value},${severity}`).join("\n");
          const file = await read("csv", `value,severity\n${text}\n`, most);
          const said = rows.flatMap(({ value, severity }) => {
            const reading = severity === "worst" ? null : readIndicator(typeOf(value), value);
            return reading?.ok ? [[reading.indicator.value, severity === "" ? null : severity] as const] : [];
          });
          const last = new Map<string, string | null>(said);
          expect(
            new Map<string, string | null>(file.indicators.map(({ value, severity }) => [value, severity])),
          ).toEqual(last);
          expect([file.rows, file.indicators.length, file.rejected.length]).toEqual([
            rows.length,
            last.size,
            rows.length - said.length,
          ]);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("of many indicators has all of them, those that come again at its end included", async () => {
    const values = Array.from({ length: 5000 }, (_, i) => `host-${i}.example.com`);
    const again = values.filter((_, i) => i % 7 === 0);
    const text = [...values.map((value) => `${value},low`), ...again.map((value) => `${value},high`)].join(
      "\n",
    );
    const file = await read("csv", `value,severity\n${text}`, 1000);
    expect(new Map(file.indicators.map(({ value, severity }) => [value, severity]))).toEqual(
      new Map(values.map((value, i) => [value, i % 7 === 0 ? "high" : "low"])),
    );
  });

  test("that is no list at its end is refused before anything of it is taken", async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => `host-${i}.example.com`).join("\n");
    for (const [format, text] of [
      ["csv", `${rows}\n"open`],
      ["stix", `{"type":"bundle","objects":[${'{"type":"x"},'.repeat(3000)}]}`],
      ["misp", `{"Event":{"Attribute":[${'{"type":"x"},'.repeat(3000)}{}]}`],
    ] as const)
      await expect(read(format, text)).rejects.toThrow(FileProblem);
  });
});

test("a part of JSON is what JSON.parse makes of it, and what is no JSON is refused", () => {
  const text = fc.oneof(
    fc.json(),
    fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...'{}[]",:\\0e-.tu \n')).map(([json, at, char]) => {
      const place = at % (json.length + 1);
      return json.slice(0, place) + char + json.slice(place + (at % 2));
    }),
    fc.constantFrom(
      '{"a":1,"a":2}',
      '["\\u00g0"]',
      '"\u0001"',
      "01",
      "-",
      "1.",
      "[1,]",
      '{"a"}',
      "\ufeff[]",
      "",
    ),
  );
  fc.assert(
    fc.property(text, (given) => {
      const isMarked = given.startsWith("\ufeff");
      const plain = isMarked ? given.slice(1) : given;
      let parsed: unknown;
      try {
        parsed = JSON.parse(plain);
      } catch {
        expect(() => JsonPart.of(Buffer.from(given))).toThrow(FileProblem);
        return;
      }
      const part = JsonPart.of(Buffer.from(given));
      expect(part.value()).toEqual(parsed);
      expect([...part.elements()].map((each) => each.value())).toEqual(Array.isArray(parsed) ? parsed : []);
      if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return;
      for (const [name, value] of Object.entries(parsed)) expect(part.member(name)?.value()).toEqual(value);
      expect(part.member("not there")).toBeUndefined();
    }),
    { numRuns: 3000 },
  );
  expect(() => JsonPart.of(Buffer.from("[".repeat(100_000)))).toThrow(FileProblem);
});

function typeOf(value: string): "ip" | "domain" | "hash" {
  if (value === MD5) return "hash";
  return /^[0-9]/.test(value) ? "ip" : "domain";
}
