/** Whatever somebody does to rows or heads behind the server's back is found, and an untouched chain is intact. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { insertAnchors } from "../../../src/audit/anchors/anchor-store.ts";
import { type AuditTuple, storedRowOf } from "../../../src/audit/audit-rows.ts";
import { GENESIS_HASH, rowHash } from "../../../src/audit/chain.ts";
import { auditReader, fillLog, makeOrganization, recordChange } from "../../audit/audited-organization.ts";
import { testLedger } from "../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let sql: TestStores["postgres"];
/** The organisation with the smallest id; rows are moved there. */
let elsewhere: number;

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  // Whoever owns the database can do this, and then make rows that no constraint of ours allows.
  await sql`ALTER TABLE audit_log DROP CONSTRAINT audit_log_seq_key, DROP CONSTRAINT audit_log_seq_check,
            DROP CONSTRAINT audit_log_pkey`;
  await sql`ALTER TABLE audit_log ALTER COLUMN id DROP IDENTITY`;
  await sql`CREATE SEQUENCE audit_log_id_seq START 1000`;
  await sql`GRANT USAGE ON SEQUENCE audit_log_id_seq TO obs_organization`;
  elsewhere = await makeOrganization(sql);
});
afterAll(() => stores.close());

/** The edits of each column that an attacker may think of. */
const EDITS: Record<string, string> = {
  id: "id = id + 1000000",
  organization_id: "organization_id = (SELECT min(id) FROM organizations)",
  created_at: "created_at = created_at + interval '1 millisecond'",
  "created_at, to the end of time": "created_at = 'infinity'",
  actor_user_id: "actor_user_id = actor_user_id + 1",
  "actor_user_id, to null": "actor_user_id = NULL",
  actor_token_id: "actor_token_id = NULL",
  actor_email: "actor_email = 'eve@example.com'",
  action: "action = 'DELETE_THING'",
  resource: "resource = 'thing:none'",
  meta: "meta = jsonb_set(meta, '{ip}', '\"198.51.100.1\"')",
  "meta, to a scalar": "meta = 'null'",
  hash: "hash = sha256(hash)",
  seq: "seq = seq + 1000",
};

interface Chain {
  readonly organizationId: number;
  readonly rows: number;
}

/** Three rows to eight of several changes, with an anchor in the middle and one at the end. */
const histories = fc.array(
  fc.array(fc.record({ name: fc.string({ unit: "binary" }), value: fc.jsonValue() }), {
    minLength: 1,
    maxLength: 2,
  }),
  { minLength: 3, maxLength: 4 },
);

async function makeChain(changes: readonly (readonly { name: string; value: unknown }[])[]): Promise<Chain> {
  const organizationId = await makeOrganization(sql);
  const ledger = testLedger(sql);
  for (const [i, records] of changes.entries()) {
    await recordChange(ledger, organizationId, {
      entries: records.map(({ name, value }) => ({ resource: `thing:${i}`, after: { [name]: value } })),
    });
    if (i === 0) await anchorHead(organizationId);
  }
  await anchorHead(organizationId);
  return { organizationId, rows: changes.flat().length };
}

async function anchorHead(organizationId: number): Promise<void> {
  const [head] = await sql<{ seq: string; hash: Uint8Array }[]>`
    UPDATE audit_heads SET anchored_seq = seq WHERE organization_id = ${organizationId} RETURNING seq, hash`;
  if (head === undefined) throw new Error("no head");
  const anchor = { organizationId, seq: Number(head.seq), hash: head.hash };
  await insertAnchors(stores.clickhouse, [anchor], Date.now(), AbortSignal.timeout(10_000));
}

async function idAt(organizationId: number, seq: number): Promise<number> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM audit_log WHERE organization_id = ${organizationId} AND seq = ${seq}`;
  return Number(row?.id);
}

/** Makes every hash from the first row on, and the head, fit what the rows say now: a perfect forgery in Postgres. */
async function forgeHashes(organizationId: number): Promise<void> {
  let hash = GENESIS_HASH;
  let seq = 0;
  const tuples = await sql<AuditTuple[]>`
    SELECT * FROM audit_log WHERE organization_id = ${organizationId} ORDER BY seq`;
  for (const tuple of tuples) {
    seq += 1;
    hash = rowHash(hash, { ...storedRowOf(tuple).row, seq });
    await sql`UPDATE audit_log SET hash = ${hash}, seq = ${seq} WHERE id = ${tuple.id}`;
  }
  await sql`UPDATE audit_heads SET seq = ${seq}, hash = ${hash} WHERE organization_id = ${organizationId}`;
}

test("an untouched chain is intact, and any single edit, removal, insertion or swap of rows is found", async () => {
  await fc.assert(
    fc.asyncProperty(
      histories,
      fc.constantFrom(...Object.keys(EDITS)),
      fc.nat(),
      async (changes, edit, pick) => {
        const { organizationId, rows } = await makeChain(changes);
        const reader = auditReader(stores, organizationId);
        expect(await reader.verify()).toEqual({
          ok: true,
          checkedRows: rows,
          firstBrokenId: null,
          anchoredThrough: rows,
          missingTail: false,
          problem: null,
          nextCursor: null,
        });
        const seq = 1 + (pick % rows);
        const before = await sql`SELECT * FROM audit_log WHERE organization_id = ${organizationId}`;
        const tampers = {
          edit: () =>
            sql.unsafe(
              `UPDATE audit_log SET ${EDITS[edit]} WHERE organization_id = ${organizationId} AND seq = ${seq}`,
            ),
          remove: () => sql`DELETE FROM audit_log WHERE organization_id = ${organizationId} AND seq = ${seq}`,
          duplicate: () => sql`
          INSERT INTO audit_log SELECT * FROM audit_log WHERE organization_id = ${organizationId} AND seq = ${seq}`,
          prepend: () => sql`
          INSERT INTO audit_log (id, organization_id, seq, created_at, actor_email, action, resource, meta, hash)
          SELECT id + 500000, organization_id, 0, created_at, actor_email, action, resource, meta, hash
          FROM audit_log WHERE organization_id = ${organizationId} AND seq = ${seq}`,
          swap: () => sql`
          UPDATE audit_log SET seq = CASE seq WHEN ${seq}::bigint THEN ${(seq % rows) + 1}::bigint ELSE ${seq}::bigint END
          WHERE organization_id = ${organizationId} AND seq IN (${seq}, ${(seq % rows) + 1})`,
        };
        for (const [name, tamper] of Object.entries(tampers)) {
          await tamper();
          const verdict = await reader.verify();
          expect([name, edit, seq, verdict.ok]).toEqual([name, edit, seq, false]);
          expect(verdict.checkedRows).toBeLessThanOrEqual(rows);
          await sql`DELETE FROM audit_log WHERE organization_id IN (${organizationId}, ${elsewhere})`;
          for (const row of before)
            await sql`INSERT INTO audit_log ${sql({ ...row, meta: sql.json(row.meta) })}`;
          expect((await reader.verify()).ok).toBe(true);
        }
      },
    ),
    { numRuns: 25 },
  );
});

describe("what is found names the place", () => {
  test.each(Object.keys(EDITS).filter((edit) => edit !== "id"))("an edit of %s", async (edit) => {
    const { organizationId } = await makeFive();
    const [middle, next] = [await idAt(organizationId, 3), await idAt(organizationId, 4)];
    await sql.unsafe(
      `UPDATE audit_log SET ${EDITS[edit]} WHERE organization_id = ${organizationId} AND seq = 3`,
    );
    const verdict = await auditReader(stores, organizationId).verify();
    const isMoved = edit === "seq" || edit === "organization_id";
    expect(verdict).toMatchObject({
      ok: false,
      checkedRows: 2,
      firstBrokenId: isMoved ? next : middle,
      problem: isMoved ? "row_misplaced" : "row_changed",
      missingTail: false,
    });
  });

  test("a removed row shows at the one that followed it", async () => {
    const { organizationId } = await makeFive();
    const next = await idAt(organizationId, 3);
    await sql`DELETE FROM audit_log WHERE organization_id = ${organizationId} AND seq = 2`;
    expect(await auditReader(stores, organizationId).verify()).toMatchObject({
      ok: false,
      checkedRows: 1,
      firstBrokenId: next,
      problem: "row_misplaced",
      missingTail: false,
    });
  });

  test("a row put in with a hash that fits, and one behind the head", async () => {
    const { organizationId } = await makeFive();
    await sql`
      INSERT INTO audit_log (id, organization_id, seq, created_at, actor_email, action, resource, meta, hash)
      SELECT 990001, organization_id, 6, created_at, actor_email, action, resource, meta, hash FROM audit_log
      WHERE organization_id = ${organizationId} AND seq = 5`;
    expect(await auditReader(stores, organizationId).verify()).toMatchObject({
      ok: false,
      checkedRows: 5,
      firstBrokenId: 990001,
      problem: "row_unexpected",
    });
  });

  test("a cut tail, by the head, by the anchors when the head was cut too, and when nothing is left", async () => {
    const { organizationId } = await makeFive();
    const reader = auditReader(stores, organizationId);
    const missing = { ok: false, firstBrokenId: null, problem: "tail_missing", missingTail: true };
    await sql`DELETE FROM audit_log WHERE organization_id = ${organizationId} AND seq > 3`;
    expect(await reader.verify()).toMatchObject({ ...missing, checkedRows: 3 });
    await forgeHashes(organizationId);
    expect(await reader.verify()).toMatchObject({ ...missing, checkedRows: 3 });
    await sql`UPDATE audit_heads SET anchored_seq = 3 WHERE organization_id = ${organizationId}`;
    expect(await reader.verify()).toMatchObject({ ...missing, checkedRows: 3 });
    await sql`DELETE FROM audit_log WHERE organization_id = ${organizationId}`;
    await sql`DELETE FROM audit_heads WHERE organization_id = ${organizationId}`;
    expect(await reader.verify()).toMatchObject({ ...missing, checkedRows: 0 });
  });

  test("a chain whose hashes were all made anew does not agree with its anchors", async () => {
    const { organizationId } = await makeFive();
    const last = await idAt(organizationId, 5);
    await sql`UPDATE audit_log SET actor_email = 'eve@example.com' WHERE organization_id = ${organizationId} AND seq = 2`;
    await forgeHashes(organizationId);
    expect(await auditReader(stores, organizationId).verify()).toMatchObject({
      ok: false,
      checkedRows: 4,
      firstBrokenId: last,
      anchoredThrough: 1,
      problem: "anchor_differs",
      missingTail: false,
    });
  });

  test("a rewritten chain that was anchored once more contradicts the anchor before", async () => {
    const { organizationId } = await makeFive();
    await sql`UPDATE audit_log SET resource = 'thing:0' WHERE organization_id = ${organizationId} AND seq = 5`;
    await forgeHashes(organizationId);
    await sql`UPDATE audit_heads SET anchored_seq = 0 WHERE organization_id = ${organizationId}`;
    await anchorHead(organizationId);
    expect(await auditReader(stores, organizationId).verify()).toMatchObject({
      ok: false,
      problem: "anchor_differs",
    });
  });

  test.each([
    ["hash = sha256(hash)", "head_differs", false],
    ["seq = seq + 1", "tail_missing", true],
    ["seq = seq - 1", "row_unexpected", false],
    ["anchored_seq = seq + 1", "anchor_missing", false],
  ])("a head with %s", async (edit, problem, missingTail) => {
    const { organizationId } = await makeFive();
    await sql.unsafe(`UPDATE audit_heads SET ${edit} WHERE organization_id = ${organizationId}`);
    expect(await auditReader(stores, organizationId).verify()).toMatchObject({
      ok: false,
      problem,
      missingTail,
    });
  });

  test("a head that is gone", async () => {
    const { organizationId } = await makeFive();
    await sql`DELETE FROM audit_heads WHERE organization_id = ${organizationId}`;
    expect(await auditReader(stores, organizationId).verify()).toMatchObject({
      ok: false,
      problem: "row_unexpected",
    });
  });

  test("an organisation without a log is intact", async () => {
    const organizationId = await makeOrganization(sql);
    expect(await auditReader(stores, organizationId).verify()).toMatchObject({ ok: true, checkedRows: 0 });
  });
});

/** `thing:1` to `thing:5`, the first and the last anchored. */
async function makeFive(): Promise<Chain> {
  const organizationId = await makeOrganization(sql);
  await fillLog(sql, organizationId, 1);
  await anchorHead(organizationId);
  await fillLog(sql, organizationId, 4);
  await anchorHead(organizationId);
  return { organizationId, rows: 5 };
}
