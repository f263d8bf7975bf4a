import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Principal } from "../../src/access/principal.ts";
import { countLogBytes } from "../../src/usage/count-log-bytes.ts";
import { DailyCaps } from "../../src/usage/daily-caps.ts";
import { PlanCaps } from "../../src/usage/plan.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const now = (): number => Date.parse("2026-11-21T12:00:00Z");

let stores: TestStores;
let principal: Principal;

beforeAll(async () => {
  stores = await openTestStores();
  const { postgres: sql } = stores;
  const [made] = await sql<{ organization_id: number; user_id: number; id: number }[]>`
    WITH organization AS (
      INSERT INTO organizations (name, created_at) VALUES ('bytes', now()) RETURNING id
    ), person AS (
      INSERT INTO users (email, created_at) VALUES ('bytes@example.com', now()) RETURNING id
    ), member AS (
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      SELECT organization.id, person.id, 'member', now() FROM organization, person RETURNING organization_id, user_id
    )
    INSERT INTO personal_access_tokens (organization_id, user_id, token_hash, name, prefix, scopes, created_at)
    SELECT organization_id, user_id, decode(repeat('ab', 32), 'hex'), 'bytes', 'obs_bytes123', ARRAY['*'], now() FROM member
    RETURNING organization_id, user_id, id`;
  if (made === undefined) throw new Error("nobody was made");
  principal = {
    kind: "token",
    organizationId: made.organization_id,
    userId: made.user_id,
    email: "bytes@example.com",
    tokenId: made.id,
    role: "member",
    credentialKey: "bytes",
    scopes: ["*"],
    caps: { dailyMutations: null, dailyLogBytes: 100 },
  };
});
afterAll(() => stores.close());

function capsOf(monthlyLogBytes: number) {
  const plan = { name: "test", maxMonitors: null, monthlyChecks: null, monthlyLogBytes };
  const { postgres: sql } = stores;
  return { token: new DailyCaps({ sql, now }), plan: new PlanCaps({ plan, sql, now }) };
}

async function counted(): Promise<{ token: number; plan: number }> {
  const [token] =
    await stores.postgres`SELECT log_bytes FROM token_usage WHERE token_id = ${principal.tokenId}`;
  const plan = await capsOf(1_000).plan.usage(principal.organizationId);
  return { token: Number(token?.log_bytes ?? 0), plan: plan.monthlyLogBytes };
}

test("bytes are counted against token and plan when they are stored, and not when either cap or the store refuses", async () => {
  const stored = (): Promise<string> => Promise.resolve("stored");
  expect(await countLogBytes(capsOf(1_000), principal, 60, stored)).toBe("stored");
  expect(await counted()).toEqual({ token: 60, plan: 60 });

  await expect(countLogBytes(capsOf(1_000), principal, 41, stored)).rejects.toMatchObject({
    code: "PAT_DAILY_LIMIT_EXCEEDED",
  });
  await expect(countLogBytes(capsOf(70), principal, 20, stored)).rejects.toMatchObject({
    code: "PLAN_LIMIT_LOG_BYTES",
  });
  const full = (): Promise<string> => Promise.reject(new Error("the log is full"));
  await expect(countLogBytes(capsOf(1_000), principal, 30, full)).rejects.toThrow("the log is full");
  expect(await counted()).toEqual({ token: 60, plan: 60 });

  await countLogBytes(capsOf(1_000), principal, 40, stored);
  expect(await counted()).toEqual({ token: 100, plan: 100 });
});
