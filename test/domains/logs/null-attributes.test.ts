import { beforeAll, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";

const ENTRIES = [
  { message: "null", attrs: { user: null, inner: { user: null } } },
  { message: "text", attrs: { user: "null", inner: { user: "null" } } },
  { message: "empty", attrs: { user: "", inner: { user: "" } } },
  { message: "absent", attrs: {} },
];

let server: SharedServer;
let headers: Record<string, string>;

beforeAll(async () => {
  server = await sharedServer();
  headers = {
    authorization: `Bearer ${await makeToken(server.url)}`,
    "content-type": "application/json",
  };
  await post("ingest", ENTRIES);
  await eventually("the entries", async () => (await query("logs | count"))[0]?.[0] === ENTRIES.length);
});

async function post(path: string, body: unknown): Promise<unknown> {
  const url = `${server.url}/api/v1/logs/${path}`;
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

function listOf(answer: unknown, member: string): unknown[] {
  const list: unknown = typeof answer === "object" && answer !== null ? Reflect.get(answer, member) : null;
  if (!Array.isArray(list)) throw new TypeError(`no ${member} in ${JSON.stringify(answer)}`);
  return list;
}

async function query(text: string): Promise<unknown[][]> {
  return listOf(await post("query", { query: text }), "rows").map((row) => (Array.isArray(row) ? row : []));
}

test("an attribute that is null comes back as null", async () => {
  const answer: unknown = await (await fetch(`${server.url}/api/v1/logs/search`, { headers })).json();
  const found = listOf(answer, "entries").map((entry) => JSON.stringify(entry));
  for (const { message, attrs } of ENTRIES)
    expect(found).toContainEqual(
      expect.stringMatching(new RegExp(`"message":"${message}".*"attrs":${JSON.stringify(attrs)}}$`)),
    );
});

test("in KQL it is nothing, unlike a text that says null", async () => {
  const rows = await query(
    `logs | project message, isnull(attrs.user), isempty(user), gettype(attrs.user), tostring(attrs.user), isnull(attrs.inner.user),
      isempty(attrs.inner.user), gettype(attrs.inner.user), user == "null" | sort by message asc`,
  );
  expect(rows).toEqual([
    ["absent", true, true, "null", "", true, true, "null", false],
    ["empty", false, true, "string", "", false, true, "string", false],
    ["null", true, true, "null", "", true, true, "null", false],
    ["text", false, false, "string", "null", false, false, "string", true],
  ]);
});

test("groups of its values are those of nothing", async () => {
  expect(await query("logs | summarize count() by user | sort by user asc")).toEqual([
    ["", 3],
    ["null", 1],
  ]);
  const [row] = await query(
    "logs | where message == 'null' | project whole = tostring(attrs), keys = bag_keys(attrs)",
  );
  expect(row).toEqual(['{"user":null,"inner":{"user":null}}', ["user", "inner"]]);
});
