import { expect, test } from "bun:test";
import { loadConfig } from "../../src/config/config.ts";

const TOKEN = "t".repeat(32);
const OTHER = "u".repeat(40);

test("tokens of probes name their regions; none is short, given twice, or of a region that there is not", () => {
  expect(loadConfig({ PROBE_TOKENS: `weur=${TOKEN}, apac=${OTHER}` }).probeTokens).toEqual({
    weur: TOKEN,
    apac: OTHER,
  });
  const wrong = [
    `local=${TOKEN}`,
    "weur=short",
    `weur=${TOKEN},weur=${OTHER}`,
    `weur=${TOKEN},apac=${TOKEN}`,
    `${TOKEN}`,
    `weur=${TOKEN},`,
  ];
  for (const PROBE_TOKENS of wrong) {
    expect(() => loadConfig({ PROBE_TOKENS })).toThrow(/^PROBE_TOKENS: the value \(not shown/);
  }
});

test("canaries are hosts with ports", () => {
  expect(
    loadConfig({ PROBE_CANARIES: "1.1.1.1:443, dns.example:53, [2001:db8::1]:80" }).probeCanaries,
  ).toEqual([
    { host: "1.1.1.1", port: 443 },
    { host: "dns.example", port: 53 },
    { host: "2001:db8::1", port: 80 },
  ]);
  for (const PROBE_CANARIES of [
    "1.1.1.1",
    "1.1.1.1:0",
    "1.1.1.1:65536",
    "[1.1.1.1]:1",
    "a b:1",
    "2001:db8::1:80",
  ])
    expect(() => loadConfig({ PROBE_CANARIES })).toThrow("is no host with a port");
});
