import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { EXTERNAL_LIFE_MS, TABLE_MAX_BYTES, TABLE_MAX_ROWS } from "../../../src/kql/kept/limits.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { keptApp, makeOrganization } from "./kept-app.ts";

let stores: TestStores;
let own: number;
let foreign: number;
let server: ReturnType<typeof Bun.serve>;
let asked: string[] = [];
const files = new Map<string, string | Uint8Array<ArrayBuffer>>();

beforeAll(async () => {
  stores = await openTestStores();
  own = await makeOrganization(stores, "own");
  foreign = await makeOrganization(stores, "foreign");
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (pathname === "/away") return Response.redirect("http://localhost:1/", 302);
      const file = files.get(pathname);
      return file === undefined ? new Response("none", { status: 404 }) : new Response(file);
    },
  });
});
afterAll(async () => {
  await server.stop(true);
  await stores.close();
});

const OPEN = { hosts: ["127.0.0.1"], allow: ["127.0.0.1"] };

/** An instance of its own, which knows no file yet. */
function opened(choices: Parameters<typeof keptApp>[1] = OPEN) {
  return keptApp(stores, choices);
}

function urlOf(path: string): string {
  return `http://127.0.0.1:${server.port}${path}`;
}

function messageOf(body: unknown): string {
  const [issue] = Object(Reflect.get(Object(body), "fields"));
  return String(Reflect.get(Object(issue), "message"));
}

async function rowsOf(query: string, app = opened()): Promise<unknown> {
  const { body } = await app.query(own, query);
  return Reflect.get(Object(body), "rows") ?? messageOf(body);
}

describe("externaldata", () => {
  test("is refused, with the name of the setting, unless the operator allows it", async () => {
    asked = [];
    const query = `externaldata(a: string)["${urlOf("/a.csv")}"] | take 1`;
    expect(await opened({}).query(own, query)).toMatchObject({
      status: 400,
      body: {
        code: "KQL_INVALID",
        fields: [{ line: 1, column: 1, message: expect.stringContaining("EXTERNALDATA_HOSTS") }],
      },
    });
    expect(await rowsOf(query, opened({ hosts: ["example.com"], allow: ["127.0.0.1"] }))).toContain(
      "127.0.0.1",
    );
    // What the guard does not let out stays closed, whatever the setting says.
    expect(await rowsOf(query, opened({ hosts: ["*"] }))).toContain("does not connect to this address");
    expect(asked).toEqual([]);
  });

  test.each([
    ["/a.csv", 'a,n\nx,1\n"y, z",2\n', "with (ignoreFirstRecord=true)"],
    ["/b.csv", 'x,1\r\n"y, z",2', ""],
    ["/c.tsv", "x\t1\ny, z\t2\n", ""],
    ["/d", "x\t1\ny, z\t2\n", 'with (format="tsv")'],
    ["/e.json", '{"n":1,"a":"x"}\n{"a":"y, z","n":2}\n', ""],
    ["/f", '[{"n":1,"a":"x"},\n{"a":"y, z","n":2}]', "with (format=multijson)"],
    ["/g.json.gz", new Uint8Array(gzipSync('{"n":1,"a":"x"}\n{"a":"y, z","n":2}')), ""],
    [
      "/h.csv.gz",
      new Uint8Array(gzipSync('a,n\nx,1\n"y, z",2\n')),
      'with (format="csv", ignoreFirstRecord=true)',
    ],
  ])("reads %s", async (path, file, properties) => {
    files.set(path, file);
    expect(
      await rowsOf(`externaldata(a: string, n: long)["${urlOf(path)}"] ${properties} | sort by n asc`),
    ).toEqual([
      ["x", 1],
      ["y, z", 2],
    ]);
  });

  test("is nothing where a value is missing or of another type, and has dynamic values as they are", async () => {
    files.set("/odd.csv", "1,2026-01-01,extra,more\nx\n");
    expect(await rowsOf(`externaldata(n: long, at: datetime)["${urlOf("/odd.csv")}"]`)).toEqual([
      [1, "2026-01-01T00:00:00.0000000Z"],
      [null, null],
    ]);
    files.set("/deep.json", '{"d":{"a":[1,"x"]}}\n{"d":"text"}\n{}');
    expect(await rowsOf(`externaldata(d: dynamic)["${urlOf("/deep.json")}"] | project d.a[1], d`)).toEqual([
      ["x", { a: [1, "x"] }],
      [null, "text"],
      [null, null],
    ]);
  });

  test("reads several files as one, is joined and called by a function that is kept", async () => {
    files.set("/1.csv", "a\n");
    files.set("/2.csv", "b\n");
    const app = opened();
    const source = `externaldata(w: string)["${urlOf("/1.csv")}", "${urlOf("/2.csv")}"]`;
    expect(await rowsOf(`datatable(w: string)["a", "c"] | where w in (${source}) | count`, app)).toEqual([
      [1],
    ]);
    const made = await app.send(own, "POST", "/kql/functions", { name: "Words", body: source });
    expect(made.status).toBe(201);
    expect(await rowsOf("Words() | count", app)).toEqual([[2]]);
  });

  test("asks once for a while, for each organisation by itself", async () => {
    let nowMs = Date.now();
    const app = opened({ ...OPEN, now: () => nowMs });
    files.set("/once.csv", "1\n");
    asked = [];
    const query = `externaldata(n: long)["${urlOf("/once.csv")}"]`;
    await Promise.all([rowsOf(query, app), rowsOf(query, app), rowsOf(query, app)]);
    expect(asked).toEqual(["/once.csv"]);
    files.set("/once.csv", "2\n");
    expect(await rowsOf(query, app)).toEqual([[1]]);
    expect(await app.query(foreign, query)).toMatchObject({ body: { rows: [[2]] } });
    nowMs += EXTERNAL_LIFE_MS;
    expect(await rowsOf(query, app)).toEqual([[2]]);
  });

  test("says what is wrong with a file, and stores nothing of it", async () => {
    files.set("/long.csv", "1\n".repeat(TABLE_MAX_ROWS + 2));
    files.set("/bomb.gz", new Uint8Array(gzipSync(Buffer.alloc(TABLE_MAX_BYTES + 1, "a"))));
    files.set("/broken.json", "{");
    files.set("/bytes.csv", Uint8Array.from([0xff, 0xfe]));
    for (const [path, message] of [
      ["/none.csv", "HTTP 404"],
      ["/away", "HTTP 302"],
      ["/long.csv", "rows"],
      ["/bomb.gz", "unpack"],
      ["/broken.json", "JSON"],
      ["/bytes.csv", "UTF-8"],
    ])
      expect(await rowsOf(`externaldata(n: long)["${urlOf(path ?? "")}"]`)).toContain(message ?? "");
  });

  test.each([
    ["externaldata(a: string)[] | take 1", "1 to 8 addresses"],
    ['externaldata(a: string)["file:///etc/passwd"]', "https://"],
    ["externaldata(a: string)[strcat('http://', 'x')]", "An address in quotes"],
    ['externaldata(a: string)["http://x/"] with (format="parquet")', "There is no format parquet"],
    ['externaldata(a: string)["http://x/"] with (ingestionMapping="x")', "no property ingestionMapping"],
    ['externaldata(a: string, a: long)["http://x/"]', "Two columns are called a"],
    ['externaldata(a: strng)["http://x/"]', "strng is no type"],
    ["externaldata(a: string)", "before the addresses"],
  ])("%s says what can stand there", async (query, message) => {
    expect(await rowsOf(query)).toContain(message);
  });
});
