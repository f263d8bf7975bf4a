/** Rows as changes add them: one chain however many add to it, whatever they say, and all or nothing. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { appendAudit } from "../../src/audit/append.ts";
import { auditRecord } from "../../src/audit/audit-entry.ts";
import type { RequestLedger } from "../../src/http/ledger/request-ledger.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { testLedger } from "../harness/ledger.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { auditReader, makeOrganization, ORIGIN, recordChange } from "./audited-organization.ts";

let stores: TestStores;
let sql: TestStores["postgres"];

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
});
afterAll(() => stores.close());

async function places(organizationId: number): Promise<{ seqs: number[]; head: number }> {
  const rows = await sql<{ seq: string }[]>`
    SELECT seq FROM audit_log WHERE organization_id = ${organizationId} ORDER BY seq`;
  const [head] = await sql<
    { seq: string }[]
  >`SELECT seq FROM audit_heads WHERE organization_id = ${organizationId}`;
  return { seqs: rows.map(({ seq }) => Number(seq)), head: Number(head?.seq ?? 0) };
}

function upTo(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1);
}

async function expectIntact(organizationId: number, rows: number): Promise<void> {
  expect(await places(organizationId)).toEqual({ seqs: upTo(rows), head: rows });
  expect(await auditReader(stores, organizationId).verify()).toMatchObject({ ok: true, checkedRows: rows });
}

test("changes of two instances at the same time make one chain without a gap", async () => {
  const own = await makeOrganization(sql);
  const other = await makeOrganization(sql);
  const second = createPostgres(stores.postgresUrl);
  try {
    const ledgers = [testLedger(sql), testLedger(second)];
    const changes = Array.from({ length: 60 }, (_, n) =>
      recordChange(ledgers[n % 2] ?? testLedger(sql), n % 3 === 0 ? other : own, {
        entries: Array.from({ length: 1 + (n % 2) }, (_, i) => ({
          resource: `thing:${n}.${i}`,
          after: { n },
        })),
      }),
    );
    await Promise.all(changes);
  } finally {
    await second.end();
  }
  await expectIntact(own, 60);
  await expectIntact(other, 30);
});

describe("what does not happen leaves neither a row nor a gap", () => {
  const failures: [string, (ledger: RequestLedger, organizationId: number) => Promise<unknown>][] = [
    [
      "a change that fails after it recorded",
      (ledger, organizationId) =>
        ledger.change(
          {
            principal: principal(organizationId),
            action: "UPDATE_THING",
            origin: ORIGIN,
            execution: null,
            signal: new AbortController().signal,
          },
          async ({ record }) => {
            record({ resource: "thing:1", after: {} });
            throw new Error("failed");
          },
          {},
        ),
    ],
    [
      "a change that records nothing",
      (ledger, organizationId) => recordChange(ledger, organizationId, { entries: [] }),
    ],
    [
      "a transaction that fails after the rows were added",
      (_, organizationId) =>
        sql.begin(async (tx) => {
          const by = { actor: { userId: 1, tokenId: null, email: "a@example.com" }, origin: ORIGIN, atMs: 0 };
          await appendAudit(tx, organizationId, [auditRecord("UPDATE_THING", { resource: "thing:1" }, by)]);
          throw new Error("failed");
        }),
    ],
  ];
  const principal = (organizationId: number) => ({
    kind: "session" as const,
    userId: 1,
    organizationId,
    email: "a@example.com",
    role: "admin" as const,
    scopes: ["*"],
    tokenId: null,
    caps: { dailyMutations: null, dailyLogBytes: null },
    credentialKey: "session:1",
  });

  test.each(failures)("%s", async (_, fail) => {
    const organizationId = await makeOrganization(sql);
    const ledger = testLedger(sql);
    const entries = [{ resource: "thing:1", after: {} }];
    await recordChange(ledger, organizationId, { entries });
    await expect(fail(ledger, organizationId)).rejects.toThrow();
    expect(await places(organizationId)).toEqual({ seqs: [1], head: 1 });
    await recordChange(ledger, organizationId, { entries });
    await expectIntact(organizationId, 2);
  });

  test("the row and what it tells of come together", async () => {
    const organizationId = await makeOrganization(sql);
    const ledger = testLedger(sql);
    const rename = (name: string, fails: boolean) =>
      recordChange(ledger, organizationId, {
        entries: fails ? [] : [{ resource: "organization", after: { name } }],
        work: ({ tx }) => tx`UPDATE organizations SET name = ${name} WHERE id = ${organizationId}`,
      });
    await rename("kept", false);
    await expect(rename("undone", true)).rejects.toThrow("recorded nothing");
    const [row] = await sql<{ name: string }[]>`SELECT name FROM organizations WHERE id = ${organizationId}`;
    expect(row?.name).toBe("kept");
    await expectIntact(organizationId, 1);
  });
});

test("the role of row-level security can neither change nor remove a row", async () => {
  const organizationId = await makeOrganization(sql);
  const ledger = testLedger(sql);
  for (const statement of [
    "UPDATE audit_log SET action = 'X'",
    "DELETE FROM audit_log",
    "TRUNCATE audit_log",
    "DELETE FROM audit_heads",
  ]) {
    const attempt = recordChange(ledger, organizationId, {
      entries: [{ resource: "thing:1" }],
      work: ({ tx }) => tx.unsafe(statement),
    });
    await expect(attempt).rejects.toThrow("permission denied");
  }
});

describe("odd values come back as they were hashed", () => {
  let deep: unknown = "bottom";
  for (let i = 0; i < 200; i += 1) deep = i % 2 === 0 ? [deep] : { deeper: deep };
  const values: Record<string, unknown> = {
    "numbers of every kind": [
      -0,
      0,
      1e300,
      -1e300,
      5e-324,
      1.7976931348623157e308,
      0.1,
      1e21,
      123456789012345680000,
      2 ** 53,
    ],
    "no number": [Number.NaN, Number.POSITIVE_INFINITY],
    "text beyond ASCII": ["ä", "a\u0308", "😀", "\u{10ffff}", "‮abc", "\u2028", "\u007f", "\u001f", '"\\/'],
    "lone surrogates": ["\ud800", "\udc00x", { "\ud800": 1, "\udfff": 2 }],
    "a null character": ["\0", "a\0b", { "\0": "\0" }],
    "names that mean something elsewhere": JSON.parse(
      '{"__proto__":{"x":1},"constructor":2,"toString":null,"":3}',
    ),
    "names in another order than Postgres'": {
      bb: 1,
      a: 2,
      "10": 3,
      "9": 4,
      B: 5,
      ä: 6,
      aaa: 7,
      "\ue000": 8,
      "😀": 9,
    },
    "deep nesting": deep,
    "a long text": "x".repeat(100_000),
    "a long list": Array.from({ length: 10_000 }, (_, i) => i),
    "text cut inside a character": `${"x".repeat(1_023)}😀`,
  };

  test.each(Object.entries(values))("%s", async (_, value) => {
    const organizationId = await makeOrganization(sql);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    await recordChange(testLedger(sql), organizationId, {
      principal: { email: text.slice(0, 100) },
      entries: [
        {
          resource: `thing:${text.slice(0, 100)}`,
          before: { value: 1 },
          after: { value, [text.slice(0, 50)]: value },
        },
        {
          resource: "thing:1",
          before: { value },
          after: null,
          facts: { said: text, list: [{ [text.slice(0, 50)]: text }] },
        },
      ],
    });
    await expectIntact(organizationId, 2);
  });

  test("whatever they are", async () => {
    const texts = fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units));
    const anything = fc.object({
      key: texts,
      values: [texts, fc.double(), fc.integer(), fc.boolean(), fc.constant(null)],
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(texts, anything, anything), { minLength: 1, maxLength: 5 }),
        async (changes) => {
          const organizationId = await makeOrganization(sql);
          await recordChange(testLedger(sql), organizationId, {
            entries: changes.map(([resource, before, after]) => ({ resource, before, after })),
          });
          await expectIntact(organizationId, changes.length);
        },
      ),
      { numRuns: 60 },
    );
  });
});
