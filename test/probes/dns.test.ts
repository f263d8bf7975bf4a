import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import DNS from "dns2";
import type { CheckSpec } from "../../src/probes/check.ts";
import type { DnsType } from "../../src/probes/targets/dns-target.ts";
import { checking, specOf, verdict } from "./checking.ts";

const NAME = "shop.example";
/** What the server knows of `shop.example`, as the test library writes records, and as a person expects them. */
const RECORDS: Readonly<Record<DnsType, { record: object; expected: string; other: string }>> = {
  A: { record: { address: "192.0.2.7" }, expected: "192.0.2.7", other: "192.0.2.8" },
  AAAA: { record: { address: "2001:db8::7" }, expected: "2001:0DB8:0::7", other: "2001:db8::8" },
  CNAME: { record: { domain: "Front.example" }, expected: "front.EXAMPLE.", other: "back.example" },
  NS: { record: { ns: "ns1.example" }, expected: "ns1.example", other: "ns2.example" },
  PTR: { record: { domain: "host.example" }, expected: "host.example", other: "ghost.example" },
  MX: {
    record: { exchange: "mail.example", priority: 10 },
    expected: "mail.example",
    other: "10 mail.example",
  },
  TXT: { record: { data: "v=spf1 -all" }, expected: "v=spf1 -all", other: "V=SPF1 -all" },
  SRV: {
    record: { priority: 1, weight: 2, port: 443, target: "web.example" },
    expected: "1 2 443 web.example.",
    other: "1 2 80 web.example",
  },
  CAA: {
    record: { flags: 0, tag: "issue", value: "authority.example" },
    expected: '0 issue "authority.example"',
    other: '0 issue "other.example"',
  },
  SOA: {
    record: {
      primary: "ns1.example",
      admin: "admin.example",
      serial: 5,
      refresh: 4,
      retry: 3,
      expiration: 2,
      minimum: 1,
    },
    expected: "ns1.example. admin.example. 5 4 3 2 1",
    other: "ns1.example admin.example 6 4 3 2 1",
  },
};
const TYPES = Object.keys(RECORDS) as DnsType[];

const servers: { close(): void }[] = [];
let port: number;

/** A real server, over UDP and TCP: what it answers goes by the first label of the name. */
function answer(packet: DNS.Packet, isWhole: boolean, send: (response: DNS.Packet) => unknown): void {
  const response = DNS.Packet.createResponseFromRequest(packet);
  const [question] = packet.questions;
  const name = question?.name ?? "";
  const [label] = name.split(".");
  if (label === "silent") return;
  if (label === "refused") response.header.rcode = DNS.Packet.RCODE.REFUSED;
  else if (label === "broken") response.header.rcode = DNS.Packet.RCODE.SERVFAIL;
  else if (label === "long" && !isWhole) response.header.tc = 1;
  else if (label === "shop" || label === "long") {
    const type = TYPES.find((known) => DNS.Packet.TYPE[known] === question?.type);
    if (type !== undefined)
      response.answers.push(
        Object.assign(new DNS.Packet.Resource(), {
          name,
          type: DNS.Packet.TYPE[type],
          class: DNS.Packet.CLASS.IN,
          ttl: 60,
          ...RECORDS[type].record,
        }),
      );
  } else if (label !== "empty") response.header.rcode = DNS.Packet.RCODE.NXDOMAIN;
  void send(response);
}

beforeAll(async () => {
  // Ports of TCP are the scarcer ones.
  const tcp = DNS.createServer({ tcp: true, handle: (packet, send) => answer(packet, true, send) });
  const addresses = await tcp.listen({ tcp: { port: 0, address: "127.0.0.1" } });
  port = addresses.tcp?.port ?? 0;
  const udp = DNS.createServer({ udp: true, handle: (packet, send) => answer(packet, false, send) });
  await udp.listen({ udp: { port, address: "127.0.0.1" } });
  servers.push(udp, tcp);
});
afterAll(() => {
  for (const server of servers) server.close();
});

const run = checking();
const dnsOf = async (name: string, given: Partial<CheckSpec> = {}): Promise<string> =>
  verdict(await run(specOf({ type: "dns", url: `dns://127.0.0.1:${port}/${name}`, ...given })));

describe("a name", () => {
  test.each(TYPES)("with a record of type %s is up, and with the one that is expected", async (type) => {
    const { expected, other } = RECORDS[type];
    const query = `${NAME}?type=${type}`;
    expect(await dnsOf(query)).toBe("up");
    expect(await dnsOf(query, { keyword: expected })).toBe("up");
    expect(await dnsOf(query, { keyword: other })).toBe("down dns_mismatch");
    expect(await dnsOf(query, { keyword: other, keywordMatchType: "not_contains" })).toBe("up");
    expect(await dnsOf(query, { keyword: expected, keywordMatchType: "not_contains" })).toBe(
      "down dns_mismatch",
    );
  });

  test.each(["gone.example", "empty.example", "broken.example", "refused.example"])(
    "%s has no answer",
    async (name) => {
      expect(await dnsOf(name)).toBe("down dns_no_answer");
    },
  );

  test("with an answer too long for one packet is asked for again over TCP", async () => {
    expect(await dnsOf("long.example", { keyword: "192.0.2.7" })).toBe("up");
  });

  test("that nobody answers is down by our deadline, whatever the resolver's is", async () => {
    expect(await dnsOf("silent.example", { timeoutMs: 300 })).toBe("down timeout");
  });

  test("asked of nobody is down", async () => {
    const socket = createSocket("udp4");
    await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
    const closed = socket.address().port;
    await new Promise<void>((done) => socket.close(() => done()));
    const outcome = await run(
      specOf({ type: "dns", url: `dns://127.0.0.1:${closed}/${NAME}`, timeoutMs: 1_000 }),
    );
    expect(["down timeout", "down connection_refused"]).toContain(verdict(outcome));
  });
});

describe("the server that is asked", () => {
  test("is judged like any target, by name too", async () => {
    const inward = checking({ allow: [], allowPrivate: true, resolve: async () => ["127.0.0.1"] });
    for (const server of [`127.0.0.1:${port}`, "169.254.169.254", `ns.example:${port}`])
      expect(verdict(await inward(specOf({ type: "dns", url: `dns://${server}/${NAME}` })))).toBe(
        "down target_blocked",
      );
    const named = checking({ allow: ["ns.example"], resolve: async () => ["127.0.0.1"] });
    expect(verdict(await named(specOf({ type: "dns", url: `dns://ns.example:${port}/${NAME}` })))).toBe("up");
  });
});

test("what is no name, no type or no server is no target", async () => {
  for (const url of [
    "",
    "two words",
    "x?type=ANY",
    "dns://127.0.0.1/",
    "dns://a b/x",
    "x?class=CH",
    "%zz",
    "a..b",
  ])
    expect(verdict(await run(specOf({ type: "dns", url })))).toBe("down target_invalid");
});
