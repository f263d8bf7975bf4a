import { afterAll, beforeAll, expect, test } from "bun:test";
import { canonicalJson, type JsonObject } from "../../../src/audit/canonical-json.ts";
import { auditReader, fillLog, makeOrganization } from "../../audit/audited-organization.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

/** More than a page of an export. */
const ROWS = 1_203;

let stores: TestStores;
let sql: TestStores["postgres"];
let organizationId: number;

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  organizationId = await makeOrganization(sql);
  await fillLog(sql, organizationId, ROWS);
});
afterAll(() => stores.close());

test("an export holds every row in the order of the chain, and the chain can be followed with nothing else", async () => {
  const response = await auditReader(stores, organizationId).get("/export");
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="audit-logs.ndjson"');
  const lines = (await response.text()).trimEnd().split("\n");
  expect(lines.length).toBe(ROWS);
  let previous = Buffer.alloc(32);
  for (const [i, line] of lines.entries()) {
    const { hash, ...row }: JsonObject = JSON.parse(line);
    expect(row.seq).toBe(i + 1);
    const own = new Bun.CryptoHasher("sha256").update(previous).update(canonicalJson(row)).digest("hex");
    expect(hash).toBe(own);
    previous = Buffer.from(own, "hex");
  }
});

test("as CSV it has the same rows, with place and hash", async () => {
  const lines = (await (await auditReader(stores, organizationId).get("/export?format=csv")).text()).split(
    "\r\n",
  );
  expect(lines[0]).toBe("id,createdAt,actorUserId,actorPatId,actorEmail,action,resource,meta,seq,hash");
  expect(lines.length).toBe(ROWS + 2);
  expect(lines[ROWS]).toMatch(new RegExp(`,thing:${ROWS},".*",${ROWS},[0-9a-f]{64}$`));
});

test("filters count, and rows added while it runs are not in it", async () => {
  const other = await makeOrganization(sql);
  await fillLog(sql, other, 600);
  const reader = auditReader(stores, other);
  const response = await reader.get("/export?action=UPDATE_THING&actor=5");
  await fillLog(sql, other, 2);
  expect((await response.text()).trimEnd().split("\n").length).toBe(600);
  expect(await (await reader.get("/export?actor=6")).text()).toBe("");
  expect((await reader.get("/export?limit=5")).status).toBe(400);
});

test("nothing is read ahead of a client, and one that goes away ends it", async () => {
  let queries = 0;
  const counting = new Proxy(sql, {
    get: (target, name, receiver) => {
      if (name === "begin") queries += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  const response = await auditReader({ ...stores, postgres: counting }, organizationId).get("/export");
  const reader = response.body?.getReader();
  await reader?.read();
  const afterFirst = queries;
  expect(afterFirst).toBe(2);
  await reader?.cancel();
  expect(queries).toBe(afterFirst);
});
