import type { Sql } from "postgres";
import { SecretBox } from "../../src/access/secret-box.ts";
import { Changes } from "../../src/changes/changes.ts";
import { PostgresLedger } from "../../src/http/ledger/request-ledger.ts";
import { DailyCaps } from "../../src/usage/daily-caps.ts";
import { PlanCaps } from "../../src/usage/plan.ts";

/** The box of every suite that needs one. */
export const TEST_BOX = new SecretBox(Buffer.alloc(32, 7));

/** The ledger as the server makes it. */
export function testLedger(sql: Sql, now: () => number = Date.now): PostgresLedger {
  return new PostgresLedger({ sql, box: TEST_BOX, changes: new Changes({ sql, now }) });
}

/** A plan without limits, and the daily caps, as the server makes them. */
export function testCaps(sql: Sql, now: () => number = Date.now): { token: DailyCaps; plan: PlanCaps } {
  const plan = { name: "self-hosted", maxMonitors: null, monthlyChecks: null, monthlyLogBytes: null };
  return { token: new DailyCaps({ sql, now }), plan: new PlanCaps({ plan, sql, now }) };
}
