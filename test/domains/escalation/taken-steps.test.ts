/** Several instances find the same step due; one of them takes it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  beginEscalation,
  dueEscalations,
  endEscalations,
  lockDue,
  saveEscalation,
} from "../../../src/domains/escalation/escalation-store.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** An escalation whose first step is due. */
async function beginDue() {
  const { postgres: sql } = stores;
  const [organization] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('o', now()) RETURNING id`;
  const organizationId = organization?.id ?? 0;
  const [incident] = await sql<{ id: string }[]>`
    INSERT INTO incidents (organization_id, title, status, severity, opened_at, created_at, updated_at)
    VALUES (${organizationId}, 'Checkout is down', 'investigating', 'high', now(), now(), now()) RETURNING id`;
  const incidentId = Number(incident?.id);
  const policy = { steps: [{ type: "user" as const, userId: 1, delaySec: 0 }], repeat: 1 };
  await sql.begin((tx) =>
    beginEscalation(tx, organizationId, { incidentId, run: 0, policy, nextAt: 0, nowMs: 0 }),
  );
  const due = await dueEscalations(sql, { busy: [], max: 100 });
  const found = due.find((each) => each.organizationId === organizationId);
  if (found === undefined) throw new Error("the step is not due");
  return found;
}

test("a step that another instance has taken since it was found due is not taken again", async () => {
  const { postgres: sql } = stores;
  const due = await beginDue();
  await sql.begin(async (tx) => {
    const locked = await lockDue(tx, due);
    expect(locked?.escalation.cycle).toBe(0);
    await saveEscalation(tx, due, { step: 0, cycle: 1, nextAt: 3_600_000 }, 0);
  });
  expect(await sql.begin((tx) => lockDue(tx, due))).toBeNull();
});

test("a step that another instance takes just now is left to it", async () => {
  const { postgres: sql } = stores;
  const due = await beginDue();
  await sql.begin(async (tx) => {
    expect(await lockDue(tx, due)).not.toBeNull();
    expect(await sql.begin((other) => lockDue(other, due))).toBeNull();
  });
});

test("a step that was found due before somebody answered is not taken", async () => {
  const { postgres: sql } = stores;
  const due = await beginDue();
  await sql.begin((tx) => endEscalations(tx, due.organizationId, due.incidentId, "answered"));
  expect(await sql.begin((tx) => lockDue(tx, due))).toBeNull();
});
