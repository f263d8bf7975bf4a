import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ApiError } from "../../src/errors.ts";
import { PlanCaps } from "../../src/usage/plan.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const UNLIMITED = { name: "test", maxMonitors: null, monthlyChecks: null, monthlyLogBytes: null };

let stores: TestStores;
let nowMs = Date.parse("2026-01-31T23:59:00Z");
const now = (): number => nowMs;

beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

function instance(monthlyLogBytes: number | null): PlanCaps {
  return new PlanCaps({ plan: { ...UNLIMITED, monthlyLogBytes }, sql: stores.postgres, now });
}

async function makeOrganization(): Promise<number> {
  const [row] = await stores.postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('plan', now()) RETURNING id`;
  return row?.id ?? 0;
}

describe("the bytes of logs of a plan", () => {
  test("are taken exactly up to the limit, by several instances at once, and anew in the next month", async () => {
    const organizationId = await makeOrganization();
    const instances = [instance(1_000), instance(1_000)];
    const taken = await Promise.allSettled(
      Array.from({ length: 40 }, (_, i) => instances[i % 2]?.takeLogBytes(organizationId, 70)),
    );
    expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(14);
    const [refused] = taken.filter((one) => one.status === "rejected");
    expect(refused?.reason).toBeInstanceOf(ApiError);
    expect(refused?.reason).toMatchObject({
      code: "PLAN_LIMIT_LOG_BYTES",
      status: 429,
      retryAfterSeconds: 60,
    });
    // What does not fit is not counted: something smaller still does.
    await instance(1_000).takeLogBytes(organizationId, 20);
    expect(await instance(1_000).usage(organizationId)).toMatchObject({
      monthlyChecks: 0,
      monthlyLogBytes: 1_000,
    });
    nowMs += 60_000;
    expect(await instance(1_000).usage(organizationId)).toEqual({
      monitors: 0,
      monthlyChecks: 0,
      monthlyLogBytes: 0,
    });
    await instance(1_000).takeLogBytes(organizationId, 1_000);
  });

  test("stand beside the number of the organisation's monitors", async () => {
    const [own, other] = [await makeOrganization(), await makeOrganization()];
    for (const organizationId of [own, own, other])
      await stores.postgres`
        INSERT INTO monitors (organization_id, name, url, type, interval_sec, timeout_ms, heartbeat_token_hash,
                              sealed_heartbeat_token, created_at, updated_at)
        VALUES (${organizationId}, 'a', 'b', 'https', 60, 1000, sha256(gen_random_uuid()::text::bytea), '', now(), now())`;
    expect((await instance(null).usage(own)).monitors).toBe(2);
  });

  test("are neither limited nor counted without a limit, and are of one organisation only", async () => {
    const [first, second] = [await makeOrganization(), await makeOrganization()];
    await instance(null).takeLogBytes(first, 10 ** 12);
    expect((await instance(null).usage(first)).monthlyLogBytes).toBe(0);
    await instance(100).takeLogBytes(first, 100);
    await instance(100).takeLogBytes(second, 100);
    await expect(instance(100).takeLogBytes(first, 1)).rejects.toThrow("100 bytes");
  });
});
