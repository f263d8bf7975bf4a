/** A chain that is verified in several batches and several calls. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { VERIFY_BATCH_ROWS, VERIFY_MAX_MS } from "../../../src/audit/limits.ts";
import { patient } from "../../../src/concurrency/patience.ts";
import { Verification } from "../../../src/domains/audit/verify/verification.ts";
import { auditReader, CURSOR_KEY, fillLog, makeOrganization } from "../../audit/audited-organization.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const ROWS = VERIFY_BATCH_ROWS * 2 + 100;

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

/** Verifies with a clock on which each batch takes as long as a call may. */
function slowVerification(): Verification {
  let nowMs = 0;
  const monotonicMs = (): number => {
    nowMs += patient(VERIFY_MAX_MS);
    return nowMs;
  };
  return new Verification({ sql, clickhouse: stores.clickhouse, cursorKey: CURSOR_KEY, monotonicMs });
}

const signal = new AbortController().signal;

test("is intact in one call", async () => {
  expect(await auditReader(stores, organizationId).verify()).toMatchObject({ ok: true, checkedRows: ROWS });
});

test("is verified over several calls when one takes too long, and is not called intact before the end", async () => {
  const verification = slowVerification();
  const checked: number[] = [];
  let answer = await verification.verify(organizationId, undefined, signal);
  while (answer.nextCursor !== null) {
    expect(answer.ok).toBe(false);
    expect(answer).toMatchObject({ firstBrokenId: null, missingTail: false, problem: null });
    checked.push(answer.checkedRows);
    answer = await verification.verify(organizationId, answer.nextCursor, signal);
  }
  // A batch begins with the last row of the one before.
  expect(checked).toEqual([VERIFY_BATCH_ROWS, 2 * VERIFY_BATCH_ROWS - 1]);
  expect(answer).toMatchObject({ ok: true, checkedRows: ROWS });
});

test("a cursor is good for the same organisation only, and cannot be made up", async () => {
  const verification = slowVerification();
  const { nextCursor } = await verification.verify(organizationId, undefined, signal);
  const cursor = nextCursor ?? "";
  const other = await makeOrganization(sql);
  const refused = { code: "VALIDATION_FAILED" };
  await expect(verification.verify(other, cursor, signal)).rejects.toMatchObject(refused);
  for (const forged of [`B${cursor.slice(1)}`, `${cursor}A`, cursor.slice(0, -4), ""])
    await expect(verification.verify(organizationId, forged, signal)).rejects.toMatchObject(refused);
});

test("grows while it is verified, and is intact as far as it went when the call began", async () => {
  const growing = fillLog(sql, organizationId, 30);
  const verdicts = await Promise.all([1, 2, 3].map(() => auditReader(stores, organizationId).verify()));
  await growing;
  for (const verdict of verdicts) expect(verdict).toMatchObject({ ok: true, problem: null });
});

test("calls of one organisation wait for each other, a few at a time, and hold up no other", async () => {
  const verification = new Verification({
    sql,
    clickhouse: stores.clickhouse,
    cursorKey: CURSOR_KEY,
    monotonicMs: () => performance.now(),
  });
  const other = await makeOrganization(sql);
  const ended: string[] = [];
  const call = async (id: number, name: string): Promise<string> => {
    const outcome = await verification.verify(id, undefined, signal).then(
      ({ ok }) => (ok ? "ok" : "not ok"),
      () => "refused",
    );
    if (outcome === "ok") ended.push(name);
    return outcome;
  };
  const own = Array.from({ length: 8 }, () => call(organizationId, "own"));
  const foreign = call(other, "other");
  expect((await Promise.all(own)).toSorted()).toEqual([
    ...Array<string>(5).fill("ok"),
    ...Array<string>(3).fill("refused"),
  ]);
  expect(await foreign).toBe("ok");
  expect(ended.indexOf("other")).toBe(1);
});

test("what is done at the border of two batches is found, also between two calls", async () => {
  const border = VERIFY_BATCH_ROWS;
  await sql`ALTER TABLE audit_log DROP CONSTRAINT audit_log_seq_key, DROP CONSTRAINT audit_log_pkey`;
  const reader = auditReader(stores, organizationId);
  const verification = slowVerification();
  const { nextCursor } = await verification.verify(organizationId, undefined, signal);
  const resumed = () => verification.verify(organizationId, nextCursor ?? "", signal);
  const atBorder = sql`organization_id = ${organizationId} AND seq = ${border}`;

  await sql`INSERT INTO audit_log OVERRIDING SYSTEM VALUE SELECT * FROM audit_log WHERE ${atBorder}`;
  expect(await reader.verify()).toMatchObject({ ok: false, checkedRows: border, problem: "row_misplaced" });
  expect(await resumed()).toMatchObject({ ok: false, problem: "row_misplaced" });
  await sql`DELETE FROM audit_log WHERE ctid = (SELECT max(ctid) FROM audit_log WHERE ${atBorder})`;
  expect(await reader.verify()).toMatchObject({ ok: true });

  await sql`UPDATE audit_log SET hash = sha256(hash) WHERE ${atBorder}`;
  expect(await resumed()).toMatchObject({ ok: false, problem: "row_changed" });
  await sql`DELETE FROM audit_log WHERE ${atBorder}`;
  expect(await reader.verify()).toMatchObject({
    ok: false,
    checkedRows: border - 1,
    problem: "row_misplaced",
  });
  expect(await resumed()).toMatchObject({ ok: false, problem: "row_misplaced" });
});
