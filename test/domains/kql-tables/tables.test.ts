import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { removerOfUnusedRows } from "../../../src/kql/kept/kept-rows.ts";
import { TABLE_MAX_ROWS, UNUSED_ROWS_MS } from "../../../src/kql/kept/limits.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { keptApp, makeOrganization } from "../../kql/kept/kept-app.ts";

let stores: TestStores;
let app: ReturnType<typeof keptApp>;
let own: number;
let foreign: number;

beforeAll(async () => {
  stores = await openTestStores();
  app = keptApp(stores);
  own = await makeOrganization(stores, "own");
  foreign = await makeOrganization(stores, "foreign");
  const entry = (organization: number, id: number, host: string) => ({
    organization_id: organization,
    ts: "2026-01-01 00:00:00",
    id: String(id),
    received_at: "2026-01-01 00:00:00",
    level: "info",
    service: "api",
    host,
    message: `entry ${id}`,
  });
  const values = [
    entry(own, 1, "web-1"),
    entry(own, 2, "web-2"),
    entry(own, 3, "db-1"),
    entry(foreign, 4, "web-1"),
  ];
  await stores.clickhouse.insert({ table: "logs", values, format: "JSONEachRow" });
});
afterAll(() => stores.close());

const HOSTS = "host,owner,port\nweb-1,shop,80\nweb-2,shop,8080\n";

async function rowsOf(query: string, organization = own): Promise<unknown> {
  const { body } = await app.query(organization, query);
  return Reflect.get(Object(body), "rows") ?? body;
}

function refused(message: string) {
  return {
    status: 400,
    body: { code: "VALIDATION_FAILED", fields: [{ message: expect.stringContaining(message) }] },
  };
}

async function storedRows(): Promise<number> {
  const answer = await stores.clickhouse.query({
    query: "SELECT count() AS n FROM kept_rows",
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ n: string }>();
  return Number(row?.n);
}

describe("a table that is kept", () => {
  test("is looked up, joined and asked by its name", async () => {
    expect(await app.upload(own, "hosts", HOSTS)).toMatchObject({
      status: 200,
      body: {
        name: "hosts",
        version: 1,
        rows: 2,
        bytes: HOSTS.length,
        columns: [
          { name: "host", type: "string" },
          { name: "owner", type: "string" },
          { name: "port", type: "long" },
        ],
      },
    });
    expect(await rowsOf("hosts | sort by port asc")).toEqual([
      ["web-1", "shop", 80],
      ["web-2", "shop", 8080],
    ]);
    expect(
      await rowsOf("logs | lookup hosts on host | project host, owner, port | sort by host asc"),
    ).toEqual([
      ["db-1", "", null],
      ["web-1", "shop", 80],
      ["web-2", "shop", 8080],
    ]);
    expect(await rowsOf("logs | join kind=leftanti hosts on host | project host")).toEqual([["db-1"]]);
    expect(await rowsOf("logs | where host in (hosts | project host) | count")).toEqual([[2]]);
    expect(await rowsOf("union withsource=T hosts, hosts | summarize count() by T")).toEqual([["hosts", 4]]);
    expect(await rowsOf("hosts | getschema | project ColumnName, ColumnType")).toEqual([
      ["host", "string"],
      ["owner", "string"],
      ["port", "long"],
    ]);
    const found = await app.send(
      own,
      "GET",
      `/logs/search?query=${encodeURIComponent("host in ((hosts | project host))")}`,
    );
    expect(found).toMatchObject({ status: 200, body: { total: 2 } });
  });

  test("is its organisation's alone, also where another has one of that name", async () => {
    await app.upload(own, "secret", "word\nmine\n");
    expect(await app.query(foreign, "secret | take 1")).toMatchObject({ status: 400 });
    expect((await app.send(foreign, "GET", "/kql/tables/secret")).status).toBe(404);
    expect((await app.send(foreign, "DELETE", "/kql/tables/secret")).status).toBe(404);
    await app.upload(foreign, "secret", "word\ntheirs\n");
    expect(await rowsOf("secret", foreign)).toEqual([["theirs"]]);
    expect(await rowsOf("secret")).toEqual([["mine"]]);
  });

  test("whose number somebody else's rows have shows none of them", async () => {
    await app.upload(own, "real", "word\nmine\n");
    await app.upload(foreign, "forged", "word\ntheirs\n");
    await stores.postgres`
      UPDATE kql_tables SET rows_id = (SELECT rows_id FROM kql_tables WHERE name = 'real') WHERE name = 'forged'`;
    const other = keptApp(stores);
    expect(await other.query(foreign, "forged")).toMatchObject({ status: 200, body: { rows: [] } });
  });

  test("has the types that are given, and of the others those that all values have", async () => {
    const csv =
      "a,b,c,d,e,f,g,h\n1,1.5,true,2026-01-02T03:04:05Z,007,,x,1d\n-2,2,FALSE,2026-01-02,8,,1,00:10:00\n9007199254740993,,,,,,,\n";
    expect(await app.upload(own, "typed", csv, "?types=h:%20timespan")).toMatchObject({ status: 200 });
    expect(await rowsOf("typed | getschema | project ColumnType")).toEqual(
      ["long", "real", "bool", "datetime", "string", "string", "string", "timespan"].map((type) => [type]),
    );
    const { body } = await app.query(own, "typed");
    expect(JSON.stringify(Reflect.get(Object(body), "rows"))).toStartWith(
      '[[1,1.5,true,"2026-01-02T03:04:05.0000000Z","007","","x","1.00:00:00"],[-2,2,false,"2026-01-02T00:00:00.0000000Z","8","","1","00:10:00"],',
    );
    // Every digit of a whole number is kept, and what is empty is nothing.
    expect(
      await rowsOf(
        "typed | where a == 9007199254740993 | project s = tostring(a), isnull(b), isnull(c), isnull(d), e, isnull(h)",
      ),
    ).toEqual([["9007199254740993", true, true, true, "", true]]);
    await app.upload(
      own,
      "tagged",
      'host,tags\nweb-1,"{""a"": [1, ""x""]}"\nweb-2,plain\n',
      "?types=tags:dynamic",
    );
    expect(await rowsOf("tagged | project host, tags.a[1], gettype(tags) | sort by host asc")).toEqual([
      ["web-1", "x", "dictionary"],
      ["web-2", null, "string"],
    ]);
  });

  test.each([
    ["", "The file is empty"],
    ["a,a\n1,2\n", "Two columns are called a."],
    ["a,\n1,2\n", "Column 2 has no name"],
    ["a,b\n1\n", "line 2"],
    ['a\n"x', "Quote Not Closed"],
    [Uint8Array.from([0x61, 0x0a, 0xff]), "UTF-8"],
  ])("that %j would be is refused with the place", async (csv, message) => {
    expect(await app.upload(own, "wrong", csv)).toMatchObject(refused(message));
  });

  test("of which a value is not of its type is refused with its row and column, and changes nothing", async () => {
    await app.upload(own, "ports", "host,port\nweb,80\n");
    expect(await app.upload(own, "ports", "host,port\nweb,80\ndb,none\n", "?types=port:long")).toMatchObject(
      refused('Row 2, column port: "none" is no long.'),
    );
    expect(await app.upload(own, "ports", "host\nweb\n", "?types=port:long")).toMatchObject(
      refused("no column port"),
    );
    expect(await app.upload(own, "ports", "host\nweb\n", "?types=port:lng")).toMatchObject(
      refused("lng is no type"),
    );
    expect(await app.upload(own, "ports", "host\nweb\n", "?types=port)%20[1]%20//")).toMatchObject({
      status: 400,
    });
    expect(await rowsOf("ports")).toEqual([["web", 80]]);
  });

  test("has a name of its own", async () => {
    for (const name of ["logs", "strlen", "a-b", "1a"])
      expect((await app.upload(own, name, "a\n1\n")).status).toBe(400);
    await app.upload(own, "taken", "a\n1\n");
    expect((await app.send(own, "POST", "/kql/functions", { name: "taken", body: "1" })).status).toBe(409);
  });

  test("has at most so many rows", async () => {
    const csv = `a\n${"1\n".repeat(TABLE_MAX_ROWS + 1)}`;
    expect(await app.upload(own, "large", csv)).toMatchObject(refused("rows"));
  });

  test("comes packed, too", async () => {
    const packed = new Uint8Array(gzipSync(HOSTS));
    expect(await app.upload(own, "packed", packed, "", { "content-encoding": "gzip" })).toMatchObject({
      body: { rows: 2 },
    });
  });

  test("is replaced as a whole: every query has all rows of one version", async () => {
    const rows = 2_000;
    const versionOf = (version: number): string => `v\n${`${version}\n`.repeat(rows)}`;
    await app.upload(own, "moving", versionOf(1));
    let isDone = false;
    const reads = (async () => {
      const seen: unknown[] = [];
      while (!isDone) seen.push(await rowsOf("moving | summarize count(), min(v), max(v)"));
      return seen;
    })();
    for (let version = 2; version <= 6; version++)
      expect(await app.upload(own, "moving", versionOf(version))).toMatchObject({ body: { version } });
    isDone = true;
    for (const answer of await reads) {
      const [[count, least, most]] = Object(answer);
      expect([count, least]).toEqual([rows, most]);
    }
    expect(await rowsOf("moving | take 1")).toEqual([[6]]);
  });

  test("that is replaced, deleted, or was never finished leaves no rows behind", async () => {
    const remove = removerOfUnusedRows(stores.clickhouse);
    const later = (): number => Date.now() + 2 * UNUSED_ROWS_MS;
    await remove(stores.postgres, later(), 1000);
    const before = await storedRows();
    await app.upload(own, "brief", "a\n1\n2\n");
    await app.upload(own, "brief", "a\n3\n");
    await app.keptRows.write(own, [["lost"], ["lost"]]);
    expect(await storedRows()).toBe(before + 5);
    // Queries that are under way still read what was replaced.
    expect(await remove(stores.postgres, Date.now(), 1000)).toBe(0);
    expect(await remove(stores.postgres, later(), 1000)).toBe(2);
    expect(await storedRows()).toBe(before + 1);
    expect(await rowsOf("brief")).toEqual([[3]]);
    expect((await app.send(own, "DELETE", "/kql/tables/brief")).status).toBe(204);
    expect(await remove(stores.postgres, later(), 1000)).toBe(1);
    expect(await storedRows()).toBe(before);
    expect(await app.query(own, "brief | take 1")).toMatchObject({ status: 400 });
  });

  test("answers every text as it was sent", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.string({ unit: "grapheme", maxLength: 12 }).filter((text) => !text.includes("\0")),
          { minLength: 1, maxLength: 8 },
        ),
        async (texts) => {
          const csv = `n,t\n${texts.map((text, i) => `${i},"${text.replaceAll('"', '""')}"`).join("\n")}`;
          expect(await app.upload(own, "texts", csv, "?types=t:string")).toMatchObject({ status: 200 });
          expect(await rowsOf("texts | sort by n asc | project t")).toEqual(texts.map((text) => [text]));
        },
      ),
      { numRuns: 15 },
    );
  });
});
