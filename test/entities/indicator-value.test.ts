/** One thing has one spelling, however it was passed on, and what is no indicator is none. */
import { describe, expect, test } from "bun:test";
import { BlockList, isIP } from "node:net";
import fc from "fast-check";
import { entityKey } from "../../src/entities/entity-key.ts";
import {
  domainAndParents,
  guessIndicator,
  INDICATOR_TYPES,
  type IndicatorType,
  readIndicator,
} from "../../src/entities/indicators/indicator-value.ts";
import { canonicalAddress, networkAddress, readNetwork } from "../../src/entities/indicators/ip-network.ts";

function spellingOf(type: IndicatorType, text: string): string | null {
  const read = readIndicator(type, text);
  return read.ok ? read.indicator.value : null;
}

const address = fc.oneof(fc.ipV4(), fc.ipV6());
const label = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,20}[a-z0-9])?$/);
const domain = fc
  .tuple(fc.array(label, { minLength: 1, maxLength: 4 }), fc.stringMatching(/^[a-z]{2,12}$/))
  .map(([labels, top]) => [...labels, top].join("."))
  // A label whose third and fourth characters are hyphens has to be right Punycode.
  .filter((name) => !name.split(".").some((part) => part.slice(2, 4) === "--"));
const hash = fc
  .constantFrom(32, 40, 64, 128)
  .chain((length) =>
    fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length }),
  );

describe("what is read is read again as itself", () => {
  test("of any text", () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."0123456789abcdef.:/[]%x-_ ") }));
    fc.assert(
      fc.property(fc.constantFrom(...INDICATOR_TYPES), text, (type, given) => {
        const value = spellingOf(type, given);
        if (value !== null) expect(spellingOf(type, value)).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  test("of addresses, domains and hashes, defanged and in any case", () => {
    const defanged = (text: string) => [
      text.replaceAll(".", "[.]"),
      text.replaceAll(".", " (dot) "),
      ` ${text.toUpperCase()}\n`,
    ];
    fc.assert(
      fc.property(domain, (name) => {
        for (const text of [
          ...defanged(name),
          `${name}.`,
          `*.${name}`,
          `hxxps://${name.replaceAll(".", "[.]")}/`,
          `http://${name}:8080`,
        ])
          expect(spellingOf("domain", text)).toBe(name);
      }),
    );
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        for (const text of [...defanged(ip), `hxxp://${ip}:8080/`, `::ffff:${ip}`, `${ip}/32`])
          expect(spellingOf("ip", text)).toBe(ip);
      }),
    );
    fc.assert(
      fc.property(hash, (digits) => {
        for (const text of [digits, digits.toUpperCase(), `SHA256:${digits}`, ` md5=${digits}`])
          expect(spellingOf("hash", text)).toBe(digits);
      }),
    );
  });
});

describe("addresses", () => {
  test("of one address every spelling is one, and another address is another", () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), (left, right) => {
        const [one, other] = [canonicalAddress(left), canonicalAddress(right)];
        expect(isIP(one ?? "")).not.toBe(0);
        const list = new BlockList();
        list.addAddress(left, "ipv6");
        expect(one === other).toBe(list.check(right, "ipv6"));
      }),
    );
    expect(canonicalAddress("2001:0DB8:0:0:0:0:0:7")).toBe("2001:db8::7");
    for (const text of ["fe80::1%eth0", "1.2.3", "1.2.3.04", "", "::g"])
      expect(canonicalAddress(text)).toBeNull();
  });

  test("a range begins where its bits say, and holds what lies in it", () => {
    fc.assert(
      fc.property(address, fc.nat(128), address, (ip, wanted, other) => {
        const canonical = canonicalAddress(ip) ?? "";
        const bits = isIP(canonical) === 4 ? 32 : 128;
        const prefixBits = Math.min(Math.max(wanted, 1), bits);
        const network = readNetwork(`${canonical}/${prefixBits}`);
        expect(network).toMatchObject({ prefixBits, bits });
        const found = canonicalAddress(other) ?? "";
        if (isIP(found) !== isIP(canonical)) return;
        const list = new BlockList();
        list.addSubnet(canonical, prefixBits, bits === 32 ? "ipv4" : "ipv6");
        expect(networkAddress(found, prefixBits) === network?.address).toBe(
          list.check(found, bits === 32 ? "ipv4" : "ipv6"),
        );
      }),
    );
    expect(spellingOf("ip", "192.0.2.77/24")).toBe("192.0.2.0/24");
    for (const text of [
      "0.0.0.0/0",
      "::/0",
      "192.0.2.0/33",
      "192.0.2.0/",
      "192.0.2.0/024",
      "::ffff:192.0.2.0/120",
      "192.0.2.0/24/1",
    ])
      expect(spellingOf("ip", text)).toBeNull();
  });
});

describe("domains and hashes", () => {
  test("a domain is written in ASCII, and has a dot and no path", () => {
    expect(spellingOf("domain", "BÜCHER.example")).toBe("xn--bcher-kva.example");
    expect(spellingOf("domain", "例え.テスト")).toBe("xn--r8jz45g.xn--zckzah");
    for (const text of [
      "localhost",
      "evil.a1",
      `evil.${"a".repeat(25)}`,
      "https://github.com/someone/page",
      "192.0.2.1",
      "a..b",
      "-a.example",
      "a b.example",
      "",
    ])
      expect(spellingOf("domain", text)).toBeNull();
    expect(domainAndParents("a.b.example.com")).toEqual(["a.b.example.com", "b.example.com", "example.com"]);
  });

  test("a text that is no hash, or none of the four kinds, is refused", () => {
    for (const text of ["", "abc", "g".repeat(32), "a".repeat(33)])
      expect(spellingOf("hash", text)).toBeNull();
  });

  test("what a text is, is told by itself", () => {
    const types = ["192[.]0.2.1", "evil[.]example", "d41d8cd98f00b204e9800998ecf8427e", "nothing"].map(
      (text) => guessIndicator(text)?.type ?? null,
    );
    expect(types).toEqual(["ip", "domain", "hash", null]);
  });
});

test("a key of an entity has one spelling, and what is none is null", () => {
  expect(entityKey("host", " Web-1 ")).toBe("web-1");
  expect(entityKey("service", "\ta\tb ")).toBe("a b");
  expect(entityKey("identity", "EXAMPLE\\Sam")).toBe("example\\sam");
  expect(entityKey("ip", "2001:DB8::0")).toBe("2001:db8::");
  expect(entityKey("ioc", "hxxp://evil[.]example")).toBe("evil.example");
  expect([
    entityKey("ip", "x"),
    entityKey("monitor", "01"),
    entityKey("service", ""),
    entityKey("host", "a\0"),
  ]).toEqual([null, null, null, null]);
});
