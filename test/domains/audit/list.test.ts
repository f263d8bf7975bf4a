import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { auditRoutes } from "../../../src/domains/audit/routes.ts";
import {
  type AuditRow,
  auditReader,
  CURSOR_KEY,
  fillLog,
  makeOrganization,
  recordChange,
} from "../../audit/audited-organization.ts";
import { testApp } from "../../harness/http-app.ts";
import { testLedger } from "../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.parse("2026-03-01T12:00:00.000Z");

let stores: TestStores;
let sql: TestStores["postgres"];

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
});
afterAll(() => stores.close());

function resources(rows: readonly AuditRow[]): string[] {
  return rows.map(({ resource }) => resource);
}

/** Every page of a query, in the order in which they come. */
async function allPages(reader: ReturnType<typeof auditReader>, query: string): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await reader.list(`?${query}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    rows.push(...page.items);
    cursor = page.nextCursor;
  }
  return rows;
}

test("a row says who changed what, when, how and from where", async () => {
  const organizationId = await makeOrganization(sql);
  const ledger = testLedger(sql, () => START_MS);
  await recordChange(ledger, organizationId, {
    action: "UPDATE_MONITOR",
    entries: [
      {
        resource: "monitor:17",
        before: { name: "api", url: "https://a.example", alertUrl: "https://hook/1", updatedAt: "1" },
        after: { name: "api", url: "https://b.example", alertUrl: "https://hook/2", updatedAt: "2" },
        sensitive: ["alertUrl"],
      },
    ],
  });
  const { items, nextCursor } = await auditReader(stores, organizationId).list();
  expect(nextCursor).toBeNull();
  expect(items).toEqual([
    {
      id: expect.any(Number),
      createdAt: "2026-03-01T12:00:00.000Z",
      actorUserId: 5,
      actorPatId: 3,
      actorEmail: "ana@example.com",
      action: "UPDATE_MONITOR",
      resource: "monitor:17",
      meta: {
        changedFields: ["url", "alertUrl"],
        diff: {
          url: { from: "https://a.example", to: "https://b.example" },
          alertUrl: { redacted: true },
        },
        ip: "192.0.2.7",
        ua: "suite/1.0",
      },
    },
  ]);
});

describe("filters", () => {
  let reader: ReturnType<typeof auditReader>;

  beforeAll(async () => {
    const organizationId = await makeOrganization(sql);
    let nowMs = START_MS;
    const ledger = testLedger(sql, () => nowMs);
    const people = [
      { userId: 5, tokenId: 3 },
      { userId: 6, tokenId: null },
    ];
    for (let n = 0; n < 12; n += 1) {
      nowMs = START_MS + n * DAY_MS;
      await recordChange(ledger, organizationId, {
        action: n % 3 === 0 ? "CREATE_THING" : "UPDATE_THING",
        principal: people[n % 2] ?? {},
        entries: [{ resource: `thing:${n}`, after: { n } }],
      });
    }
    // The clock of another instance is behind: its row comes last and is not the newest by time.
    nowMs = START_MS + 5 * DAY_MS;
    await recordChange(ledger, organizationId, { entries: [{ resource: "thing:late" }] });
    reader = auditReader(stores, organizationId);
  });

  test.each([
    ["action=CREATE_THING", [9, 6, 3, 0]],
    ["actor=6", [11, 9, 7, 5, 3, 1]],
    ["pat_id=3", ["late", 10, 8, 6, 4, 2, 0]],
    ["from=2026-03-10T12:00:00Z", [11, 10, 9]],
    ["from=2026-03-10T12:00:00.000001Z", [11, 10]],
    ["to=2026-03-03T12:00:00.000Z", [2, 1, 0]],
    ["to=2026-03-03T11:59:59.999999999Z", [1, 0]],
    ["from=2026-03-06T13:00:00%2B01:00&to=2026-03-07T12:00:00Z", ["late", 6, 5]],
    ["action=CREATE_THING&actor=6&from=2026-03-05T00:00:00Z", [9]],
    ["from=9999-12-31T23:59:59-12:00", []],
    ["to=0000-01-01T00:00:00%2B12:00", []],
    ["from=2026-03-09T00:00:00Z&to=2026-03-01T00:00:00Z", []],
    ["action=DELETE_THING", []],
  ])("%s", async (query, expected) => {
    const wanted = expected.map((name) => `thing:${name}`);
    expect(resources((await reader.list(`?${query}`)).items)).toEqual(wanted);
    expect(resources(await allPages(reader, `${query}&limit=2`))).toEqual(wanted);
  });

  test.each([
    ["limit=0", "/limit", "too_small"],
    ["limit=1001", "/limit", "too_big"],
    ["limit=ten", "/limit", "invalid_type"],
    ["actor=0", "/actor", "too_small"],
    ["actor=ana", "/actor", "invalid_type"],
    ["pat_id=9007199254740992", "/pat_id", "invalid_type"],
    ["action=%00", "/action", "invalid_string"],
    ["action=drop%20table", "/action", "invalid_string"],
    ["from=yesterday", "/from", "invalid_string"],
    ["to=2026-02-30T00:00:00Z", "/to", "invalid_string"],
    ["format=xml", "/format", "invalid_literal"],
    ["cursor=AAAA", "/cursor", "invalid_string"],
    ["page=2", "/page", "unrecognized_keys"],
  ])("%s is refused", async (query, path, code) => {
    const response = await reader.get(`?${query}`);
    expect(response.status).toBe(400);
    expect(JSON.parse(await response.text())).toMatchObject({
      code: "VALIDATION_FAILED",
      fields: [{ path, code }],
    });
  });
});

describe("paging", () => {
  test("shows every row once, newest first, and nothing that is added meanwhile", async () => {
    const organizationId = await makeOrganization(sql);
    const reader = auditReader(stores, organizationId);
    await fillLog(sql, organizationId, 25);
    const seen: AuditRow[] = [];
    let cursor: string | null = null;
    do {
      const page = await reader.list(`?limit=4${cursor === null ? "" : `&cursor=${cursor}`}`);
      seen.push(...page.items);
      cursor = page.nextCursor;
      await fillLog(sql, organizationId, 3);
    } while (cursor !== null);
    expect(resources(seen)).toEqual(Array.from({ length: 25 }, (_, i) => `thing:${25 - i}`));
    expect(new Set(seen.map(({ id }) => id)).size).toBe(25);
  });

  test("a cursor is refused with other filters, in another organisation, and when forged", async () => {
    const organizationId = await makeOrganization(sql);
    const foreign = auditReader(stores, await makeOrganization(sql));
    const reader = auditReader(stores, organizationId);
    await fillLog(sql, organizationId, 4);
    const { nextCursor } = await reader.list("?limit=2&actor=5");
    const cursor = nextCursor ?? "";
    expect((await reader.get(`?limit=3&actor=5&cursor=${cursor}`)).status).toBe(200);
    expect((await reader.get(`?cursor=${cursor}`)).status).toBe(400);
    expect((await reader.get(`?actor=6&cursor=${cursor}`)).status).toBe(400);
    expect((await foreign.get(`?actor=5&cursor=${cursor}`)).status).toBe(400);
    const last = cursor.endsWith("A") ? "B" : "A";
    expect((await reader.get(`?actor=5&cursor=${cursor.slice(0, -1)}${last}`)).status).toBe(400);
    expect((await reader.get(`?actor=5&cursor=${cursor}==`)).status).toBe(400);
    expect((await reader.get(`/verify?cursor=${cursor}`)).status).toBe(400);
  });

  test("an organisation sees no row of another", async () => {
    const organizationId = await makeOrganization(sql);
    await fillLog(sql, organizationId, 3);
    const foreign = auditReader(stores, await makeOrganization(sql));
    expect(await foreign.list()).toEqual({ items: [], nextCursor: null });
    expect(await (await foreign.get("/export")).text()).toBe("");
  });
});

describe("CSV", () => {
  test("has a header, the rows of the page, and the next page in a Link header", async () => {
    const organizationId = await makeOrganization(sql);
    await fillLog(sql, organizationId, 3);
    const reader = auditReader(stores, organizationId);
    const first = await reader.get("?format=csv&limit=2&actor=5");
    expect(first.headers.get("content-type")).toStartWith("text/csv");
    const lines = (await first.text()).split("\r\n");
    expect(lines[0]).toBe("id,createdAt,actorUserId,actorPatId,actorEmail,action,resource,meta");
    expect(lines.length).toBe(4);
    const link =
      /^<\/api\/v1\/audit-logs(\?[^>]+)>; rel="next"$/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    const second = await reader.get(link);
    expect(second.headers.get("link")).toBeNull();
    expect(await second.text()).toContain(",thing:1,");
  });

  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", '=HYPERLINK("http://x","y")'])(
    "%j is no formula",
    async (text) => {
      const organizationId = await makeOrganization(sql);
      await recordChange(testLedger(sql), organizationId, {
        principal: { email: text },
        entries: [{ resource: text, after: { name: text } }],
      });
      const reader = auditReader(stores, organizationId);
      for (const path of ["?format=csv", "/export?format=csv"]) {
        const csv = await (await reader.get(path)).text();
        const cell = /[",\r\n]/.test(`'${text}`) ? `"'${text.replaceAll('"', '""')}"` : `'${text}`;
        expect(csv).toContain(`,${cell},UPDATE_THING,${cell},"{""changedFields""`);
      }
      expect((await reader.list()).items[0]).toMatchObject({ actorEmail: text, resource: text });
    },
  );
});

test("the log is for admins with the scope audit:read", async () => {
  const { send } = testApp(auditRoutes({ sql, clickhouse: stores.clickhouse, cursorKey: CURSOR_KEY }));
  for (const path of ["", "/export", "/verify"]) {
    const statuses = [
      "admin",
      "owner/audit:read",
      "admin/audit:*",
      "member",
      "viewer",
      "admin/logs:read",
      undefined,
    ];
    const found = [];
    for (const as of statuses) {
      const response = await send("GET", `/api/v1/audit-logs${path}`, as === undefined ? {} : { as });
      found.push(response.status);
    }
    expect([path, ...found]).toEqual([path, 200, 200, 200, 403, 403, 403, 401]);
  }
});
