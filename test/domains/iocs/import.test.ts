/** Of a file whatever can be read is taken, and each row that cannot says why; lists of others are believed no further than that. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FILE_FORMATS, readFile } from "../../../src/domains/iocs/read-file.ts";
import { readIndicator } from "../../../src/entities/indicators/indicator-value.ts";
import { FileProblem } from "../../../src/kql/kept/delimited-rows.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { makeOrganization } from "../log-alerts/alert-server.ts";
import { type IocServer, iocServer, PATH } from "./ioc-server.ts";

const HOUR_MS = 3_600_000;
const MD5 = "d41d8cd98f00b204e9800998ecf8427e";

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

/** What the organisation has, newest last. */
async function values(status?: string): Promise<string[]> {
  const { body } = await server.send(
    own,
    "GET",
    `${PATH}?limit=1000${status === undefined ? "" : `&status=${status}`}`,
  );
  return body.items.map(({ value }: { value: string }) => value).toReversed();
}

describe("a file", () => {
  test("in CSV names its columns, or begins with values; each row that is none says why", async () => {
    const named = await readFile(
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
    const plain = await readFile("csv", `1.2.3.4\nevil.example,domain\n${MD5}\nnothing\n1.2.3.4`);
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
    const read = await readFile("stix", JSON.stringify(bundle));
    expect(read.indicators.map(({ value }) => value)).toEqual([
      "198.51.100.0/24",
      "evil.example",
      MD5,
      "a".repeat(64),
    ]);
    expect(read.indicators[0]).toMatchObject({ description: "C2", confidence: 70 });
    expect(read.rejected.map(({ place }) => place)).toEqual([3, 4, 5, 6].map((i) => `/objects/${i}`));
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
      const read = await readFile("misp", JSON.stringify(json));
      expect(read.indicators.map(({ value }) => value)).toEqual(["1.2.3.4", "evil.example", "2.3.4.5", MD5]);
      expect(read.indicators[1]).toMatchObject({ source: "A campaign", description: "C2" });
      expect(read.rejected).toHaveLength(2);
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
        const read = await readFile(format, given).catch((error: unknown) => {
          if (!(error instanceof FileProblem)) throw error;
          return null;
        });
        for (const { type, value } of read?.indicators ?? [])
          expect(readIndicator(type, value)).toMatchObject({ ok: true, indicator: { value } });
      }),
      { numRuns: 300 },
    );
  });
});

describe("an import", () => {
  test("takes what can be read, says why of the rest, and is looked for in what was there before", async () => {
    await newcomer();
    await server.store(own, { host: "web-1", message: "45.33.32.156" });
    await server.seal();
    const file = "type,value,severity\nip,45.33.32.156,high\ndomain,evil.example,\nip,x,\n";
    const dry = await server.upload(own, `${PATH}/import?format=csv&dryRun=true`, file);
    expect(dry).toMatchObject({
      status: 200,
      body: { dryRun: true, rows: 3, added: 2, updated: 0, rejected: 1 },
    });
    expect(await values()).toEqual([]);
    const rowsOf = () => server.sql`SELECT 1 FROM ioc_batches WHERE organization_id = ${own}`;
    expect(await rowsOf()).toHaveLength(0);
    const made = await server.upload(own, `${PATH}/import?format=csv`, file);
    expect(made).toMatchObject({
      status: 200,
      body: { dryRun: false, added: 2, updated: 0, rejected: 1, errors: [{ place: "row 4" }] },
    });
    await server.huntAll();
    expect(await values()).toEqual(["45.33.32.156", "evil.example"]);
    const { body } = await server.send(own, "GET", `${PATH}?value=45.33.32.156`);
    expect(body.items).toMatchObject([{ hits: 1, severity: "high" }]);
    const again = await server.upload(own, `${PATH}/import?format=csv`, file);
    expect(again.body).toMatchObject({ added: 0, updated: 2 });
    await server.huntAll();
    expect((await server.send(own, "GET", `${PATH}?value=45.33.32.156`)).body.items).toMatchObject([
      { hits: 1 },
    ]);
  });

  test("of what is no such file is refused and changes nothing", async () => {
    await newcomer();
    for (const [format, text] of [
      ["stix", "x"],
      ["stix", "{}"],
      ["misp", "[1"],
      ["csv", '"'],
    ] as const) {
      const { status, body } = await server.upload(own, `${PATH}/import?format=${format}`, text);
      expect({ format, status, path: body.fields[0].path }).toEqual({ format, status: 400, path: "/" });
    }
    expect((await server.upload(own, `${PATH}/import?format=pdf`, "x")).status).toBe(400);
    expect((await server.upload(own, `${PATH}/import?format=csv`, "x", "image/png")).status).toBe(415);
    expect(await values()).toEqual([]);
  });
});

describe("a feed", () => {
  const served = { body: "", status: 200, location: "", asked: [] as (string | null)[] };
  let feedServer: ReturnType<typeof Bun.serve>;
  beforeAll(() => {
    feedServer = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        const etag = `"${Bun.hash(served.body)}"`;
        served.asked.push(request.headers.get("if-none-match"));
        if (served.location !== "")
          return new Response(null, { status: 302, headers: { location: served.location } });
        if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304 });
        return new Response(served.body, { status: served.status, headers: { etag } });
      },
    });
  });
  afterAll(() => feedServer.stop(true));

  async function makeFeed(name = "Botnets"): Promise<number> {
    Object.assign(served, { body: "", status: 200, location: "", asked: [] });
    const url = `http://127.0.0.1:${feedServer.port}/feed.csv`;
    const { status, body } = await server.send(own, "POST", `${PATH}/feeds`, {
      name,
      url,
      format: "csv",
      severity: "high",
    });
    expect({ status, body }).toMatchObject({ status: 201, body: { status: "new", intervalSec: 3600 } });
    return body.id;
  }

  async function ask(id: number) {
    await server.sql`UPDATE ioc_feeds SET next_fetch_at = now() - interval '1 second' WHERE id = ${id}`;
    server.clock.nowMs += HOUR_MS;
    await server.fetchFeeds();
    return (await server.send(own, "GET", `${PATH}/feeds/${id}`)).body;
  }

  async function find(value: string) {
    const { body } = await server.send(own, "GET", `${PATH}?value=${value}`);
    expect(body.items).toHaveLength(1);
    return body.items[0];
  }

  test("brings what it lists, is asked whether it changed, and what vanishes from it expires", async () => {
    await newcomer();
    const byHand = await server.send(own, "POST", PATH, {
      type: "ip",
      value: "9.9.9.9",
      description: "mine",
    });
    const id = await makeFeed();
    served.body = "1.2.3.4\nevil.example\n9.9.9.9\nbroken\n";
    expect(await ask(id)).toMatchObject({ status: "ok", lastError: null });
    expect(await values("active")).toEqual(["9.9.9.9", "1.2.3.4", "evil.example"]);
    expect((await server.send(own, "GET", `${PATH}/${byHand.body.id}`)).body).toMatchObject({
      feedId: null,
      severity: null,
    });
    expect(await ask(id)).toMatchObject({ status: "unchanged" });
    expect(served.asked.at(-1)).not.toBeNull();
    served.body = "1.2.3.4\nworse.example\n";
    await ask(id);
    expect(await values("expired")).toEqual(["evil.example"]);
    const stats = (await server.send(own, "GET", `${PATH}/feed-stats`)).body;
    expect(stats).toMatchObject({
      total: 4,
      active: 3,
      expired: 1,
      feeds: [{ name: "Botnets", added: 1, updated: 1, expired: 1, rejected: 0 }],
    });
    served.body = "evil.example\n";
    await ask(id);
    expect(await values("active")).toEqual(["9.9.9.9", "evil.example"]);
    expect((await server.send(own, "DELETE", `${PATH}/feeds/${id}`)).status).toBe(204);
    expect(await values("active")).toEqual(["9.9.9.9"]);
  });

  test("says nothing of what another one lists", async () => {
    await newcomer();
    const one = await makeFeed();
    served.body = "1.2.3.4\n";
    await ask(one);
    const other = await makeFeed("Others");
    served.body = "other.example\n";
    await ask(other);
    served.body = "5.6.7.8\n";
    await ask(one);
    expect(await values("active")).toEqual(["other.example", "5.6.7.8"]);
    expect(await values("expired")).toEqual(["1.2.3.4"]);
  });

  test("keeps what another one goes on listing, until none does, and until the later of two times", async () => {
    await newcomer();
    const one = await makeFeed();
    served.body = "1.2.3.4\nevil.example\n";
    await ask(one);
    const other = await makeFeed("Others");
    const later = "value,expiresAt\n1.2.3.4,2090-01-01\n";
    served.body = later;
    await ask(other);
    const { expiresAt, feedId } = await find("1.2.3.4");
    expect({ expiresAt, feedId }).toEqual({ expiresAt: null, feedId: one });
    served.body = "evil.example\n";
    await ask(one);
    expect(await find("1.2.3.4")).toMatchObject({ expiresAt: "2090-01-01T00:00:00.000Z" });
    served.body = later;
    expect(await ask(other)).toMatchObject({ status: "unchanged" });
    expect(await values("active")).toEqual(["1.2.3.4", "evil.example"]);
    served.body = "5.6.7.8\n";
    await ask(other);
    expect(await values("expired")).toEqual(["1.2.3.4"]);
    served.body = "evil.example\n5.6.7.8\n";
    await ask(one);
    expect((await server.send(own, "DELETE", `${PATH}/feeds/${one}`)).status).toBe(204);
    expect(await values("active")).toEqual(["5.6.7.8"]);
    served.body = "5.6.7.8\nevil.example\n1.2.3.4\n";
    await ask(other);
    expect(await values("expired")).toEqual([]);
  });

  test("lets nothing expire that a person confirmed, changed or imported, and brings nothing back that one ended", async () => {
    await newcomer();
    const id = await makeFeed();
    served.body = "1.1.1.1\n2.2.2.2\n3.3.3.3\n4.4.4.4\n5.5.5.5\n";
    await ask(id);
    const patch = async (value: string, fields: object) =>
      server.send(own, "PATCH", `${PATH}/${(await find(value)).id}`, fields);
    await server.send(own, "POST", PATH, { type: "ip", value: "1.1.1.1" });
    await patch("2.2.2.2", { severity: "low" });
    await server.upload(own, `${PATH}/import?format=csv`, "3.3.3.3\n");
    await patch("4.4.4.4", { expiresAt: "2020-01-01T00:00:00Z" });
    served.body = "4.4.4.4\n6.6.6.6\n";
    await ask(id);
    expect(await values("active")).toEqual(["1.1.1.1", "2.2.2.2", "3.3.3.3", "6.6.6.6"]);
    expect(await find("2.2.2.2")).toMatchObject({ severity: "low", byPerson: true, feedId: id });
    expect(await find("6.6.6.6")).toMatchObject({ byPerson: false });
    await server.send(own, "POST", PATH, { type: "ip", value: "5.5.5.5" });
    expect(await find("5.5.5.5")).toMatchObject({ expiresAt: null, byPerson: true });
    expect((await server.send(own, "DELETE", `${PATH}/feeds/${id}`)).status).toBe(204);
    expect(await values("active")).toEqual(["1.1.1.1", "2.2.2.2", "3.3.3.3", "5.5.5.5"]);
  });

  test("that answers something else, leads inward or fails loses nothing and says why", async () => {
    await newcomer();
    const id = await makeFeed();
    served.body = "1.2.3.4\n";
    expect(await ask(id)).toMatchObject({ status: "ok", lastError: null });
    const wrongs = [
      { body: "<html>sorry</html>" },
      { body: "x", status: 503 },
      { location: "http://127.0.0.2/x" },
      { location: "http://169.254.169.254/latest" },
    ];
    for (const wrong of wrongs) {
      Object.assign(served, { status: 200, location: "", ...wrong });
      const { status, lastError } = await ask(id);
      expect(status).toBe("failed");
      expect(lastError).not.toBeNull();
    }
    expect(await values("active")).toEqual(["1.2.3.4"]);
    const foreign = await makeOrganization(stores);
    expect((await server.send(foreign, "GET", `${PATH}/feeds`)).body).toEqual([]);
  });
});
