import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { classifyAddress } from "../../src/outbound/address-class.ts";
import { OutboundPolicy } from "../../src/outbound/outbound-policy.ts";

const policy = (allow: readonly string[] = [], allowPrivate = false): OutboundPolicy =>
  new OutboundPolicy({ allow, allowPrivate });

const INTERNET = [
  "8.8.8.8",
  "93.184.216.34",
  "2606:4700::1111",
  "2a00:1450::1",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
];
const PRIVATE = [
  "10.0.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "fd12::1",
  "::ffff:10.0.0.1",
];
const RESERVED = [
  "127.0.0.1",
  "127.255.255.254",
  "0.0.0.0",
  "0.1.2.3",
  "169.254.169.254",
  "169.254.170.2",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "192.0.2.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:a9fe:a9fe",
  "64:ff9b::7f00:1",
  "64:ff9b:1::1",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "fd00:ec2::254",
  "fd20:ce::254",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::1",
  "3fff::1",
  "4000::1",
  "100::1",
];

describe("by itself the policy", () => {
  test.each(INTERNET)("admits %p of the internet", (address) => {
    expect(policy().admits("host.example", address)).toBe(true);
  });

  test.each(PRIVATE)("refuses the private %p unless private networks are opened", (address) => {
    expect(policy().admits("host.example", address)).toBe(false);
    expect(policy([], true).admits("host.example", address)).toBe(true);
  });

  test.each(RESERVED)("refuses the reserved %p, also when private networks are opened", (address) => {
    expect(policy([], true).admits("host.example", address)).toBe(false);
  });

  test.each(["", "localhost", "1.2.3", "8.8.8.8.", "[::1]", "08.8.8.8"])(
    "refuses %p, which is no address",
    (text) => {
      expect(policy(["127.0.0.1"], true).admits("host.example", text)).toBe(false);
    },
  );
});

describe("the operator's list", () => {
  test("opens an address, a range of private addresses, and a host wherever it leads", () => {
    const opened = policy(["127.0.0.1", "10.1.0.0/16", "fd12::/64", "Intranet.Example"]);
    expect(opened.admits("a.example", "127.0.0.1")).toBe(true);
    expect(opened.admits("a.example", "::ffff:127.0.0.1")).toBe(true);
    expect(opened.admits("a.example", "127.0.0.2")).toBe(false);
    expect(opened.admits("a.example", "10.1.255.255")).toBe(true);
    expect(opened.admits("a.example", "10.2.0.0")).toBe(false);
    expect(opened.admits("a.example", "fd12::9")).toBe(true);
    expect(opened.admits("intranet.example.", "169.254.1.1")).toBe(true);
    expect(opened.admits("not-intranet.example", "169.254.1.1")).toBe(false);
  });

  test("opens what is reserved only by an entry that is no wider than what is reserved", () => {
    for (const wide of ["0.0.0.0/0", "126.0.0.0/7", "169.0.0.0/8", "::/0", "fc00::/6"])
      for (const address of [
        "127.0.0.1",
        "169.254.169.254",
        "::1",
        "fe80::1",
        "fd00:ec2::254",
        "100.100.100.200",
      ])
        expect(policy([wide]).admits("a.example", address)).toBe(false);
    expect(policy(["127.0.0.0/8"]).admits("a.example", "127.0.0.9")).toBe(true);
    expect(policy(["169.254.0.0/16"]).admits("a.example", "169.254.169.254")).toBe(true);
    expect(policy(["100.64.0.0/10"]).admits("a.example", "100.64.0.1")).toBe(true);
    expect(policy(["100.64.0.0/10"]).admits("a.example", "100.100.100.200")).toBe(false);
  });

  test("names hosts and addresses it opens, and no others", () => {
    const opened = policy(["127.0.0.1", "id.example"]);
    expect(
      ["127.0.0.1", "ID.example.", "127.0.0.2", "8.8.8.8", "x.id.example"].map((host) => opened.names(host)),
    ).toEqual([true, true, false, false, false]);
    expect(policy().allowing("[::1]").admits("[::1]", "::1")).toBe(true);
  });
});

test("an IPv4 address is the same thing in each of its IPv6 spellings", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      const plain = classifyAddress(address);
      for (const spelling of [`::ffff:${address}`, `::ffff:${hex}`, `64:ff9b::${address}`, `64:ff9b::${hex}`])
        expect(classifyAddress(spelling)).toEqual(plain);
    }),
    { numRuns: 500, examples: [["0.0.0.0"], ["127.0.0.1"], ["10.0.0.0"], ["255.255.255.255"]] },
  );
});

test("whatever is no address of the internet is refused by itself", () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const found = classifyAddress(address);
      expect(policy().admits("a.example", address)).toBe(found?.class === "public");
      if (found?.address === address && found.class === "public") expect(address).toMatch(/^[23]/);
    }),
    { numRuns: 1_000 },
  );
});
