/** Indicators are found wherever they are, each entry once, whoever dies; what is nobody's business is not told. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BlockList } from "node:net";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { makeOrganization } from "../log-alerts/alert-server.ts";
import { type Entry, type IocServer, iocServer, PATH } from "./ioc-server.ts";

const DAY_MS = 86_400_000;

let stores: TestStores;
let server: IocServer;
let own: number;
beforeAll(async () => {
  stores = await openTestStores();
  server = await iocServer(stores);
});
afterAll(() => stores.close());

async function newcomer(): Promise<number> {
  own = await makeOrganization(stores);
  return own;
}

async function make(type: string, value: string, more: object = {}): Promise<number> {
  const { status, body } = await server.send(own, "POST", PATH, { type, value, ...more });
  expect({ status, body }).toMatchObject({ status: 201 });
  await server.huntAll();
  return body.id;
}

async function hitsOf(id: number): Promise<number> {
  return (await server.send(own, "GET", `${PATH}/${id}`)).body.hits;
}

async function storeAndSeal(...entries: readonly Entry[]): Promise<void> {
  await server.store(own, ...entries);
  await server.seal();
}

describe("an IOC", () => {
  test("is made in its one spelling, changed by another POST of it, listed, read, patched and deleted", async () => {
    await newcomer();
    const made = await server.send(own, "POST", PATH, {
      type: "domain",
      value: "hxxp://EVIL[.]example/",
      severity: "high",
    });
    expect(made).toMatchObject({
      status: 201,
      body: { value: "evil.example", severity: "high", hits: 0, feedId: null },
    });
    const again = await server.send(own, "POST", PATH, {
      type: "domain",
      value: "evil.example",
      confidence: 80,
    });
    expect(again).toMatchObject({
      status: 200,
      body: { id: made.body.id, severity: "high", confidence: 80 },
    });
    const patched = await server.send(own, "PATCH", `${PATH}/${made.body.id}`, {
      severity: null,
      expiresAt: "2020-01-01T00:00:00Z",
    });
    expect(patched).toMatchObject({
      status: 200,
      body: { severity: null, expiresAt: "2020-01-01T00:00:00.000Z" },
    });
    await make("ip", "192.0.2.0/24");
    const listed = await server.send(own, "GET", `${PATH}?limit=1`);
    expect(listed.body.items.map(({ value }: { value: string }) => value)).toEqual(["192.0.2.0/24"]);
    const rest = await server.send(own, "GET", `${PATH}?limit=1&cursor=${listed.body.nextCursor}`);
    expect(rest.body).toMatchObject({ items: [{ value: "evil.example" }], nextCursor: null });
    const expired = await server.send(own, "GET", `${PATH}?status=expired&value=Evil%5B.%5Dexample`);
    expect(expired.body.items).toHaveLength(1);
    const stats = await server.send(own, "GET", `${PATH}/feed-stats`);
    expect(stats.body).toMatchObject({
      total: 2,
      active: 1,
      expired: 1,
      byType: { ip: 1, domain: 1, hash: 0 },
      hits24h: 0,
      feeds: [],
    });
    expect((await server.send(own, "DELETE", `${PATH}/${made.body.id}`)).status).toBe(204);
    expect((await server.send(own, "GET", `${PATH}/${made.body.id}`)).status).toBe(404);
  });

  test("that is none is refused at its place and changes nothing", async () => {
    await newcomer();
    for (const [type, value] of [
      ["ip", "0.0.0.0/0"],
      ["domain", "localhost"],
      ["hash", "abc"],
    ]) {
      const { status, body } = await server.send(own, "POST", PATH, { type, value });
      expect({ status, path: body.fields[0].path }).toEqual({ status: 400, path: "/value" });
    }
    expect((await server.send(own, "POST", PATH, { type: "url", value: "x" })).status).toBe(400);
    expect((await server.send(own, "GET", PATH)).body.items).toEqual([]);
  });
});

describe("what is found", () => {
  test("is an address, one of a range, a domain or one inside of it, or a hash, in messages and attributes", async () => {
    await newcomer();
    const hash = "d41d8cd98f00b204e9800998ecf8427e";
    const ids = await Promise.all([
      make("ip", "45.33.32.156"),
      make("ip", "185.220.101.0/24"),
      make("ip", "2a00:1450::/32"),
    ]);
    const named = [await make("domain", "evil.com"), await make("hash", hash.toUpperCase())];
    await storeAndSeal(
      { host: "web-1", message: "connection from 45.33.32.156:4711 refused" },
      { host: "web-1", message: "x", attrs: [["client_ip", "185.220.101.7"]] },
      { host: "web-1", message: "to [2a00:1450:4001:82b::200e]:443" },
      { host: "web-1", message: "GET https://cdn.Evil.com/x.js", service: "proxy" },
      { service: "scanner", message: "file", attrs: [["file.hash.md5", hash]] },
      { host: "web-1", message: "notevil.com evil.com.au 145.33.32.156 45.33.32.15 185.220.102.7" },
    );
    expect(await Promise.all([...ids, ...named].map(hitsOf))).toEqual([1, 1, 1, 1, 1]);
    await server.tell();
    const told = await server.toldOf(own);
    expect(told.map(({ key }) => key).toSorted()).toEqual(
      [
        ...ids.map((id) => `ioc:${id}:host:web-1`),
        `ioc:${named[0]}:host:web-1`,
        `ioc:${named[1]}:service:scanner`,
      ].toSorted(),
    );
    expect(told.find(({ key }) => key.startsWith(`ioc:${named[0]}:`))).toMatchObject({
      source: { kind: "indicator", id: named[0], name: "evil.com" },
      severity: "medium",
      evidence: { found: "cdn.evil.com", hits: 1, entityKey: "web-1" },
    });
  });

  test("is a domain that is listed, whatever it ends in and in whatever alphabet, now and before where it may be one of the internet", async () => {
    await newcomer();
    const names = ["badsite.ninja", "x.google", "badsite.rs", "bücher.example"];
    const texts = [
      "GET https://badsite.ninja/x from 10.0.0.9",
      "to a.x.google",
      "badsite.rs:443",
      "Visit BÜCHER.example",
    ];
    const entries = texts.map((message) => ({ host: "web-1", message }));
    await storeAndSeal(...entries, { host: "web-1", message: "dc1.acme.corp" });
    const ids = [];
    for (const name of [...names, "acme.corp"]) ids.push(await make("domain", name));
    expect(await Promise.all(ids.map(hitsOf))).toEqual([1, 1, 1, 1, 0]);
    await storeAndSeal(...entries, {
      host: "web-1",
      message: "dc1.acme.corp and dc1.acme.corporate main.rs",
    });
    expect(await Promise.all(ids.map(hitsOf))).toEqual([2, 2, 2, 2, 1]);
  });

  test("is a hit of every indicator that it is: the address, each range around it, the domain and each it lies in", async () => {
    await newcomer();
    const ids: number[] = [];
    for (const value of ["45.33.32.156", "45.33.32.0/24", "45.33.0.0/16"]) ids.push(await make("ip", value));
    for (const value of ["cdn.evil.com", "evil.com"]) ids.push(await make("domain", value));
    await storeAndSeal({ host: "web-1", message: "45.33.32.156 asked for cdn.evil.com" });
    expect(await Promise.all(ids.map(hitsOf))).toEqual([1, 1, 1, 1, 1]);
  });

  test("is told once for each machine, however often it is found, and another organisation's is not looked for", async () => {
    const other = await newcomer();
    const foreign = await make("ip", "45.33.32.156");
    await newcomer();
    const id = await make("ip", "45.33.32.156");
    for (let i = 0; i < 3; i += 1)
      await storeAndSeal(
        { host: "web-1", message: "45.33.32.156" },
        { host: "Web-1", message: "45.33.32.156" },
      );
    await storeAndSeal({ host: "web-2", message: "45.33.32.156" });
    await server.tell();
    await server.tell();
    expect(await hitsOf(id)).toBe(7);
    const told = await server.toldOf(own);
    expect(Object.fromEntries(told.map(({ key, evidence }) => [key, evidence?.hits]))).toEqual({
      [`ioc:${id}:host:web-1`]: 6,
      [`ioc:${id}:host:web-2`]: 1,
    });
    expect((await server.send(own, "GET", `${PATH}/feed-stats`)).body.hits24h).toBe(7);
    await storeAndSeal({ host: "web-2", message: "45.33.32.156" });
    await server.tell();
    expect(await server.toldOf(own)).toHaveLength(2);
    own = other;
    expect(await hitsOf(foreign)).toBe(0);
    expect(await server.toldOf(other)).toEqual([]);
  });

  test("is not what expired, what is let pass, or a private address in a wide range", async () => {
    await newcomer();
    const at = new Date(server.clock.nowMs - 1000).toISOString();
    const expired = await make("ip", "45.33.32.156", { expiresAt: at });
    const shared = await make("domain", "cdn.example.net");
    const resolver = await make("ip", "8.8.8.8");
    const wide = await make("ip", "172.0.0.0/8");
    const inside = await make("ip", "172.16.0.0/16", { force: true });
    const exact = await make("ip", "192.168.1.5", { force: true });
    await server.send(own, "POST", `${PATH}/allow-list`, { type: "domain", value: "example.net" });
    await server.send(own, "POST", `${PATH}/allow-list`, { type: "ip", value: "8.8.8.0/24" });
    await storeAndSeal({
      host: "h",
      message: "45.33.32.156 a.cdn.example.net 8.8.8.8 172.16.2.3 192.168.1.5 172.1.2.3",
    });
    expect(await Promise.all([expired, shared, resolver, wide, inside, exact].map(hitsOf))).toEqual([
      0, 0, 0, 1, 1, 1,
    ]);
  });

  test("counts each entry once when a server dies between a seal and its end, and when it is begun again", async () => {
    await newcomer();
    const id = await make("ip", "45.33.32.156");
    await server.store(
      own,
      { host: "web-1", message: "45.33.32.156" },
      { host: "web-2", message: "45.33.32.156" },
    );
    const dies = () => {
      throw new Error("the server dies");
    };
    await expect(server.seal(dies)).rejects.toThrow("the server dies");
    expect(await hitsOf(id)).toBe(0);
    await server.seal();
    await server.seal();
    expect(await hitsOf(id)).toBe(2);
    await server.tell();
    expect(await server.toldOf(own)).toHaveLength(2);
  });
});

describe("a retro-hunt", () => {
  test("finds what was there before, each entry once, and what comes later is found by seals", async () => {
    await newcomer();
    const message = "45.33.32.156 185.220.101.7 cdn.evil.com 172.16.2.3";
    await storeAndSeal(
      { host: "web-1", message },
      { host: "web-1", message, atMs: server.clock.nowMs - 3 * DAY_MS },
    );
    await server.store(own, { host: "web-1", message });
    const batch = [
      ["ip", "45.33.32.156"],
      ["ip", "185.220.101.0/24"],
      ["domain", "evil.com"],
      ["ip", "172.0.0.0/8"],
    ] as const;
    const ids: number[] = [];
    for (const [type, value] of batch) ids.push(await make(type, value));
    expect(await Promise.all(ids.map(hitsOf))).toEqual([2, 2, 2, 0]);
    await server.seal();
    await server.huntAll();
    expect(await Promise.all(ids.map(hitsOf))).toEqual([3, 3, 3, 0]);
    await server.tell();
    const told = await server.toldOf(own);
    expect(told.map(({ key }) => key)).toEqual(ids.slice(0, 3).map((id) => `ioc:${id}:host:web-1`));
    const first = (await server.send(own, "GET", `${PATH}/${ids[0]}`)).body;
    expect(Date.parse(first.lastHitAt) - Date.parse(first.firstHitAt)).toBe(3 * DAY_MS);
  });

  test("counts an entry once that holds several names or addresses of one indicator, as seals do", async () => {
    await newcomer();
    const entry = {
      host: "web-1",
      message: "a.evil.com asked b.evil.com and EVIL.com from 185.220.101.7 and 185.220.101.8",
    };
    await storeAndSeal(entry, { ...entry, atMs: server.clock.nowMs - 1000 });
    const ids = [await make("domain", "evil.com"), await make("ip", "185.220.101.0/24")];
    await server.huntAll();
    expect(await Promise.all(ids.map(hitsOf))).toEqual([2, 2]);
    await storeAndSeal(entry);
    expect(await Promise.all(ids.map(hitsOf))).toEqual([3, 3]);
    // What is not of the same entries is counted by itself.
    await storeAndSeal({ host: "web-1", message: "a.evil.com" }, { host: "web-1", message: "b.evil.com" });
    expect(await hitsOf(ids[0] ?? 0)).toBe(5);
  });

  test("holds every range of a long list against every address, of IPv4 and IPv6, and finds what lies in them", async () => {
    await newcomer();
    const addresses = Array.from({ length: 120 }, (_, i) =>
      i % 3 === 0 ? `2a00:${(i % 7) + 1}::${i + 1}` : `45.${i % 9}.${i % 5}.${i + 1}`,
    );
    await storeAndSeal(...addresses.map((message) => ({ host: "web-1", message })));
    const ranges = [
      ...Array.from({ length: 9 }, (_, i) => [`45.${i}.3.0`, 24] as const),
      ...Array.from({ length: 130 }, (_, i) => [`45.${i % 9}.${i % 5}.${i - (i % 4)}`, 30] as const),
      ...Array.from({ length: 60 }, (_, i) => [`2a00:${i + 5}::`, 32] as const),
      ...Array.from({ length: 60 }, (_, i) => [`2a00:${(i % 7) + 1}::${(i * 2).toString(16)}`, 127] as const),
    ];
    const values = [...new Set(ranges.map(([address, bits]) => `${address}/${bits}`))];
    await server.upload(own, `${PATH}/import?format=csv`, values.join("\n"));
    await server.huntAll();
    const { items } = (await server.send(own, "GET", `${PATH}?limit=1000`)).body;
    const found = new Map(items.map(({ value, hits }: { value: string; hits: number }) => [value, hits]));
    expect(found.size).toBeGreaterThan(200);
    for (const value of found.keys()) {
      const [network = "", bits = ""] = String(value).split("/");
      const family = network.includes(":") ? "ipv6" : "ipv4";
      const list = new BlockList();
      list.addSubnet(network, Number(bits), family);
      const inside = addresses.filter(
        (address) => address.includes(":") === (family === "ipv6") && list.check(address, family),
      );
      expect([value, found.get(value)]).toEqual([value, inside.length]);
    }
  });

  test("waits for a seal that began before, so that nothing is found twice or never", async () => {
    await newcomer();
    await server.store(own, { host: "web-1", message: "45.33.32.156" });
    const dies = () => {
      throw new Error("the server dies");
    };
    await expect(server.seal(dies)).rejects.toThrow("the server dies");
    const id = await make("ip", "45.33.32.156");
    expect(await hitsOf(id)).toBe(0);
    await server.seal();
    expect(await hitsOf(id)).toBe(0);
    await server.huntAll();
    expect(await hitsOf(id)).toBe(1);
  });

  test("that is late finds nothing again that a seal has found meanwhile", async () => {
    await newcomer();
    await storeAndSeal({ host: "web-1", message: "45.33.32.156" });
    const { body } = await server.send(own, "POST", PATH, { type: "ip", value: "45.33.32.156" });
    await storeAndSeal(
      { host: "web-1", message: "45.33.32.156" },
      { host: "web-1", message: "45.33.32.156" },
    );
    expect(await hitsOf(body.id)).toBe(2);
    await server.huntAll();
    await server.huntAll();
    expect(await hitsOf(body.id)).toBe(3);
  });

  test("of many finds each place of each indicator once, in as many steps as it takes, also after one that died", async () => {
    await newcomer();
    const values = Array.from({ length: 20 }, (_, i) => `host-${i}.example.com`);
    const entries = values.flatMap((value, i) =>
      Array.from({ length: 1 + (i % 3) }, (_, host) => ({ host: `web-${host}`, message: value })),
    );
    await storeAndSeal(...entries, { host: "web-1", message: "185.220.101.7" });
    const rows = [...values, "185.220.101.0/24", ...values.map((value) => `never.${value}`)];
    const made = await server.upload(own, `${PATH}/import?format=csv`, rows.join("\n"));
    expect(made.body).toMatchObject({ added: 41 });
    // What a step found and how far it is are one transaction: without its last statement there is neither.
    await server.sql`ALTER TABLE ioc_hit_hours RENAME TO ioc_hit_hours_away`;
    try {
      await expect(server.huntAll()).rejects.toThrow("ioc_hit_hours");
    } finally {
      await server.sql`ALTER TABLE ioc_hit_hours_away RENAME TO ioc_hit_hours`;
    }
    await server.huntAll({ indicators: 15, hits: 3 });
    await server.huntAll();
    const { items } = (await server.send(own, "GET", `${PATH}?limit=1000`)).body;
    const hits = new Map(items.map((ioc: { value: string; hits: number }) => [ioc.value, ioc.hits]));
    expect(values.map((value) => hits.get(value))).toEqual(values.map((_, i) => 1 + (i % 3)));
    expect(hits.get("185.220.101.0/24")).toBe(1);
    expect(hits.get("never.host-1.example.com")).toBe(0);
  });

  test("of more than people can read tells of the worst, and of the others together", async () => {
    await newcomer();
    const hosts = Array.from({ length: 30 }, (_, i) => ({ host: `web-${i}`, message: "45.33.32.156" }));
    await storeAndSeal(...hosts);
    await make("ip", "45.33.32.156");
    await server.tell();
    const keys = (await server.toldOf(own)).map(({ key }) => key);
    expect(keys).toHaveLength(21);
    expect(keys.filter((key) => key.startsWith("ioc:many:"))).toHaveLength(1);
  });
});
