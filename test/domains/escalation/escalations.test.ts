import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Change } from "../../../src/changes/change.ts";
import { Changes, SERVER_ORIGIN } from "../../../src/changes/changes.ts";
import { subscribe } from "../../../src/changes/events/subscription.ts";
import { Escalations } from "../../../src/domains/escalation/escalations.ts";
import { stepTaken } from "../../../src/domains/escalation/events.ts";
import { simulate } from "../../../src/domains/escalation/next.ts";
import type { EscalationPolicy } from "../../../src/domains/escalation/types.ts";
import { createLogger } from "../../../src/log.ts";
import { openMessage, Teller } from "../../../src/notify/deliveries/tell.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { eventually } from "../../harness/eventually.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { openStatementGate } from "../../harness/statement-gate.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const TELLER = new Teller({
  box: TEST_BOX,
  endpoints: { chatD: "", pagingA: "", pagingB: "", sms: null, voice: null },
  targetKey: new Uint8Array(32),
});

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  await stores.postgres`DELETE FROM escalations`;
});

interface World {
  readonly organizationId: number;
  readonly ana: number;
  readonly ben: number;
}

async function makeWorld(): Promise<World> {
  const sql = stores.postgres;
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('o', now()) RETURNING id`;
  const organizationId = row?.id ?? 0;
  const people: number[] = [];
  for (const [name, role] of [
    ["ana", "owner"],
    ["ben", "member"],
  ] as const) {
    const [user] = await sql<{ id: string }[]>`
      INSERT INTO users (email, created_at) VALUES (${`${name}${organizationId}@example.com`}, now()) RETURNING id`;
    await sql`
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      VALUES (${organizationId}, ${user?.id ?? 0}, ${role}, now())`;
    people.push(Number(user?.id));
  }
  return { organizationId, ana: people[0] ?? 0, ben: people[1] ?? 0 };
}

async function makePolicy(
  { organizationId }: World,
  steps: EscalationPolicy["steps"],
  repeat = 0,
): Promise<number> {
  const sql = stores.postgres;
  const [row] = await sql<{ id: string }[]>`
    INSERT INTO escalation_policies (organization_id, name, steps, repeat, created_at, updated_at)
    VALUES (${organizationId}, 'p', ${sql.json(steps)}, ${repeat}, now(), now()) RETURNING id`;
  return Number(row?.id);
}

/** A schedule with turns of people that are all under way, each begun an hour after the one before. */
async function makeSchedule(world: World, userIds: readonly number[]): Promise<number> {
  const [row] = await stores.postgres<{ id: string }[]>`
    INSERT INTO on_call_schedules (organization_id, name, created_at, updated_at)
    VALUES (${world.organizationId}, ${crypto.randomUUID()}, now(), now()) RETURNING id`;
  await addTurns(world, Number(row?.id), userIds);
  return Number(row?.id);
}

async function addTurns({ organizationId }: World, scheduleId: number, userIds: readonly number[]) {
  for (const [nth, userId] of userIds.entries())
    await stores.postgres`
      INSERT INTO on_call_rotations (organization_id, schedule_id, user_id, starts_at, ends_at, created_at, updated_at)
      VALUES (${organizationId}, ${scheduleId}, ${userId}, now() - ${10 - nth}::integer * interval '1 hour',
              now() + interval '1 day', now(), now())`;
}

async function openIncident({ organizationId }: World): Promise<number> {
  const [row] = await stores.postgres<{ id: string }[]>`
    INSERT INTO incidents (organization_id, title, status, severity, opened_at, created_at, updated_at, source_key, source)
    VALUES (${organizationId}, 'Checkout is down', 'investigating', 'high', now(), now(), now(),
            ${`alert:1:${crypto.randomUUID()}`}, ${stores.postgres.json({ kind: "alert", id: 1, name: "a" })})
    RETURNING id`;
  return Number(row?.id);
}

/** One instance, by its own clock and its own way to Postgres. */
function instance({ now = Date.now, sql = stores.postgres } = {}) {
  const subscriptions = [subscribe(stepTaken, "test", async () => undefined)];
  const changes = new Changes({ sql, now, subscriptions });
  const escalations = new Escalations({
    ...{ sql, box: TEST_BOX, teller: TELLER, publicUrl: "https://obs.example" },
    changes: () => changes,
    acknowledgeLink: ({ incidentId, userId }) => `https://obs.example/acknowledge/${incidentId}.${userId}`,
    onTold: () => undefined,
    log: createLogger("fatal"),
  });
  const inChange = (organizationId: number, work: (change: Change) => Promise<void>): Promise<void> =>
    changes.inChange(
      { organizationId, actor: { kind: "job", name: "test" }, origin: SERVER_ORIGIN },
      null,
      work,
    );
  const stepDue = async (): Promise<boolean> => {
    const mayBeMore = await escalations.stepDue();
    await escalations.settled();
    return mayBeMore;
  };
  return { escalations, stepDue, inChange };
}

async function begin(
  world: World,
  incidentId: number,
  policyId: number | null,
  run = 0,
  now = Date.now,
): Promise<void> {
  const { escalations, inChange } = instance({ now });
  const incident = { id: incidentId, source: { kind: "alert" }, escalationPolicyId: policyId };
  await inChange(world.organizationId, (change) => escalations.begin(change, incident, run));
}

/** Lets the next step be due. */
async function passTime(incidentId: number): Promise<void> {
  await stores.postgres`
    UPDATE escalations SET next_at = now() - interval '1 second'
    WHERE incident_id = ${incidentId} AND state = 'running'`;
}

/** Whom pages were written for, in order, and how they stand. */
async function pages({ organizationId }: World, incidentId: number) {
  const rows = await stores.postgres<{ event_id: string; state: string; sealed: Uint8Array }[]>`
    SELECT event_id, state, sealed FROM deliveries
    WHERE organization_id = ${organizationId} AND incident_id = ${incidentId} ORDER BY id`;
  return rows.map(({ event_id, state, sealed }) => {
    const { target, notification } = openMessage(TEST_BOX, organizationId, sealed);
    if (target.channel !== "email") throw new Error("a page of another channel");
    const { title, acknowledgeLink } = notification;
    return { kind: event_id.split(":")[0], state, to: target.address, title, acknowledgeLink };
  });
}

async function stateOf(incidentId: number): Promise<string[]> {
  const rows = await stores.postgres<{ state: string }[]>`
    SELECT state FROM escalations WHERE incident_id = ${incidentId} ORDER BY run`;
  return rows.map(({ state }) => state);
}

function userStep(userId: number, delaySec: number): EscalationPolicy["steps"][number] {
  return { type: "user", userId, delaySec };
}

describe("an escalation", () => {
  test("pages one after the other, and tells the owners when nobody is left", async () => {
    const world = await makeWorld();
    const incidentId = await openIncident(world);
    const steps = [userStep(world.ben, 0), userStep(world.ana, 600)];
    await begin(world, incidentId, await makePolicy(world, steps));
    const { stepDue } = instance();
    await stepDue();
    const address = (name: string): string => `${name}${world.organizationId}@example.com`;
    expect(await pages(world, incidentId)).toEqual([
      {
        kind: "page",
        state: "pending",
        to: address("ben"),
        title: "Checkout is down",
        acknowledgeLink: `https://obs.example/acknowledge/${incidentId}.${world.ben}`,
      },
    ]);
    await stepDue();
    expect(await pages(world, incidentId)).toHaveLength(1);
    await passTime(incidentId);
    await stepDue();
    expect((await pages(world, incidentId)).map(({ kind, to }) => [kind, to])).toEqual([
      ["page", address("ben")],
      ["page", address("ana")],
      ["exhausted", address("ana")],
    ]);
    expect(await stateOf(incidentId)).toEqual(["exhausted"]);
  });

  test("takes the steps that are simulated, whoever of several instances takes them, each once", async () => {
    const world = await makeWorld();
    const incidentId = await openIncident(world);
    const policy = {
      steps: [userStep(world.ben, 60), userStep(999_999_999, 60), userStep(world.ana, 60)],
      repeat: 2,
    };
    await begin(world, incidentId, await makePolicy(world, policy.steps, policy.repeat));
    const instances = [instance(), instance(), instance()];
    while ((await stateOf(incidentId))[0] === "running") {
      await passTime(incidentId);
      await Promise.all(instances.map(({ stepDue }) => stepDue()));
    }
    const reachable = [world.ana, world.ben];
    const simulated = simulate(policy, 0, (step) =>
      step.type === "user" && reachable.includes(step.userId) ? step.userId : null,
    ).flatMap(({ userId }) => (userId === null ? [] : [userId === world.ana ? "ana" : "ben"]));
    const paged = (await pages(world, incidentId)).filter(({ kind }) => kind === "page");
    expect(paged.map(({ to }) => to.replace(/\d.*/, ""))).toEqual(simulated);
  });

  test("ends when somebody answers, with what is not sent yet, and begins anew when the incident comes back", async () => {
    const world = await makeWorld();
    const incidentId = await openIncident(world);
    const policyId = await makePolicy(world, [userStep(world.ben, 0), userStep(world.ana, 0)]);
    await begin(world, incidentId, policyId);
    const { escalations, stepDue, inChange } = instance();
    await stepDue();
    await inChange(world.organizationId, (change) => escalations.end(change, incidentId, "answered"));
    await passTime(incidentId);
    await stepDue();
    expect((await pages(world, incidentId)).map(({ state }) => state)).toEqual(["superseded"]);
    expect(await stateOf(incidentId)).toEqual(["answered"]);
    await begin(world, incidentId, policyId, 1);
    await stepDue();
    expect(await pages(world, incidentId)).toHaveLength(2);
  });

  test.each([["acknowledged_at"], ["resolved_at"]])(
    "pages nobody once %s is set, even before it is told of it",
    async (column) => {
      const world = await makeWorld();
      const incidentId = await openIncident(world);
      await begin(world, incidentId, await makePolicy(world, [userStep(world.ben, 0)]));
      const sql = stores.postgres;
      await sql`
        UPDATE incidents SET ${sql(column)} = now(),
          status = CASE WHEN ${column} = 'resolved_at' THEN 'resolved' ELSE status END
        WHERE id = ${incidentId}`;
      await instance().stepDue();
      expect(await pages(world, incidentId)).toEqual([]);
      expect(await stateOf(incidentId)).toEqual([column === "resolved_at" ? "over" : "answered"]);
    },
  );

  test.each(["changed", "deleted"])(
    "goes by the policy as it was when the incident opened, though it is %s between two steps",
    async (what) => {
      const world = await makeWorld();
      const incidentId = await openIncident(world);
      const policyId = await makePolicy(world, [userStep(world.ben, 0), userStep(world.ana, 600)]);
      await begin(world, incidentId, policyId);
      const { stepDue } = instance();
      await stepDue();
      const sql = stores.postgres;
      if (what === "deleted") await sql`DELETE FROM escalation_policies WHERE id = ${policyId}`;
      else
        await sql`
          UPDATE escalation_policies SET steps = ${sql.json([userStep(world.ben, 0)])}, repeat = 5
          WHERE id = ${policyId}`;
      await passTime(incidentId);
      await stepDue();
      expect((await pages(world, incidentId)).map(({ kind, to }) => [kind, to.slice(0, 3)])).toEqual([
        ["page", "ben"],
        ["page", "ana"],
        ["exhausted", "ana"],
      ]);
    },
  );

  test.each([
    ["the turn that began last", ["ana", "ben"], null, "ben"],
    ["the turn before, where the person of the last one has left", ["ana", "ben"], "ben", "ana"],
    ["the owners, where everybody of a schedule has left", ["ben", "ben"], "ben", null],
  ] as const)("of turns that overlap pages %s", async (_whom, turns, leaves, paged) => {
    const world = await makeWorld();
    const scheduleId = await makeSchedule(
      world,
      turns.map((name) => world[name]),
    );
    const incidentId = await openIncident(world);
    const steps = [{ type: "schedule" as const, delaySec: 0, scheduleId }];
    await begin(world, incidentId, await makePolicy(world, steps));
    if (leaves !== null) await stores.postgres`DELETE FROM memberships WHERE user_id = ${world[leaves]}`;
    await instance().stepDue();
    const told = (await pages(world, incidentId)).map(({ kind, to }) => [kind, to.slice(0, 3)]);
    expect(told).toEqual([...(paged === null ? [] : [["page", paged]]), ["exhausted", "ana"]]);
  });

  test.each(["person", "schedule"])(
    "goes on at once where the %s of a step is not there any more",
    async (what) => {
      const world = await makeWorld();
      const scheduleId = await makeSchedule(world, [world.ben]);
      const step = { type: "schedule" as const, delaySec: 0, scheduleId };
      const incidentId = await openIncident(world);
      const steps = [what === "person" ? userStep(world.ben, 0) : step, userStep(world.ana, 3600)];
      await begin(world, incidentId, await makePolicy(world, steps));
      const sql = stores.postgres;
      if (what === "person") await sql`DELETE FROM memberships WHERE user_id = ${world.ben}`;
      else {
        await sql`DELETE FROM on_call_rotations WHERE schedule_id = ${scheduleId}`;
        await sql`DELETE FROM on_call_schedules WHERE id = ${scheduleId}`;
      }
      const { stepDue } = instance();
      while (await stepDue());
      expect((await pages(world, incidentId)).map(({ to }) => to.slice(0, 3))).toEqual(["ana", "ana"]);
    },
  );

  test("asks the schedule at the moment of the step, and passes on at once where nobody is on call", async () => {
    const world = await makeWorld();
    const scheduleId = await makeSchedule(world, []);
    const steps = [{ type: "schedule" as const, delaySec: 0, scheduleId }, userStep(world.ana, 3600)];
    const policyId = await makePolicy(world, steps);
    const [empty, covered] = [await openIncident(world), await openIncident(world)];
    await begin(world, empty, policyId);
    const { stepDue } = instance();
    while (await stepDue());
    expect((await pages(world, empty)).map(({ to }) => to.slice(0, 3))).toEqual(["ana", "ana"]);
    await addTurns(world, scheduleId, [world.ben]);
    await begin(world, covered, policyId);
    while (await stepDue());
    expect((await pages(world, covered)).map(({ to }) => to.slice(0, 3))).toEqual(["ben"]);
  });

  test("is by the default policy where the incident names none, but never for what only notifies", async () => {
    const world = await makeWorld();
    const policyId = await makePolicy(world, [userStep(world.ben, 0)]);
    await stores.postgres`
      INSERT INTO alert_defaults (organization_id, escalation_policy_id, updated_at)
      VALUES (${world.organizationId}, ${policyId}, now())`;
    const { escalations, inChange } = instance();
    for (const [source, begun] of [
      [{ kind: "alert" }, 1],
      [{ kind: "slo" }, 0],
      [{ kind: "certificate" }, 0],
      [null, 0],
    ] as const) {
      const id = await openIncident(world);
      await inChange(world.organizationId, (change) =>
        escalations.begin(change, { id, source, escalationPolicyId: null }, 0),
      );
      expect([source?.kind, (await stateOf(id)).length]).toEqual([source?.kind, begun]);
    }
  });

  test.each([
    [-1, -1],
    [1, 1],
    [0, -1],
    [0, 1],
  ])(
    "takes each step once, after its delay, where the clock of the server is %d hours off and then %d",
    async (hours, later) => {
      let offsetMs = hours * 3_600_000;
      const now = (): number => Date.now() + offsetMs;
      const world = await makeWorld();
      const incidentId = await openIncident(world);
      const steps = [userStep(world.ben, 0), userStep(world.ana, 600), userStep(world.ben, 600)];
      await begin(world, incidentId, await makePolicy(world, steps), 0, now);
      const { stepDue } = instance({ now });
      await stepDue();
      offsetMs = later * 3_600_000;
      for (let looks = 0; looks < 3; looks += 1) await stepDue();
      expect((await pages(world, incidentId)).map(({ to }) => to.slice(0, 3))).toEqual(["ben"]);
      await passTime(incidentId);
      for (let looks = 0; looks < 3; looks += 1) await stepDue();
      expect((await pages(world, incidentId)).map(({ to }) => to.slice(0, 3))).toEqual(["ben", "ana"]);
    },
  );

  test("pages whoever it can by mail where another way to reach them cannot be opened", async () => {
    const world = await makeWorld();
    const incidentId = await openIncident(world);
    await begin(
      world,
      incidentId,
      await makePolicy(world, [userStep(world.ben, 0), userStep(world.ana, 60)]),
    );
    await stores.postgres`
      INSERT INTO contact_methods (organization_id, user_id, kind, label, sealed, verified_at, created_at, updated_at)
      VALUES (${world.organizationId}, ${world.ben}, 'sms', 'phone', ${new Uint8Array(64)}, now(), now(), now())`;
    await instance().stepDue();
    expect((await pages(world, incidentId)).map(({ to }) => to.slice(0, 3))).toEqual(["ben"]);
  });

  test("goes on where the step of another one fails, and that one is tried again later", async () => {
    const world = await makeWorld();
    const [broken, sound] = [await openIncident(world), await openIncident(world)];
    const policyId = await makePolicy(world, [userStep(world.ben, 0), userStep(world.ana, 60)]);
    for (const id of [broken, sound]) await begin(world, id, policyId);
    await stores.postgres`
      UPDATE escalations SET policy = '{}', next_at = now() - interval '1 hour' WHERE incident_id = ${broken}`;
    await instance().stepDue();
    expect(await pages(world, sound)).toHaveLength(1);
    expect(await stateOf(broken)).toEqual(["running"]);
    const due = await stores.postgres`
      SELECT 1 FROM escalations WHERE incident_id = ${broken} AND next_at <= now()`;
    expect(due).toHaveLength(0);
  });

  test("waits for no other one whose incident somebody is changing, nor for those of another organisation", async () => {
    const [world, slow, other] = [await makeWorld(), await makeWorld(), await makeWorld()];
    const begun = async (of: World): Promise<number> => {
      const incidentId = await openIncident(of);
      await begin(of, incidentId, await makePolicy(of, [userStep(of.ben, 0), userStep(of.ana, 3600)]));
      return incidentId;
    };
    const [held, stuck, sound] = [await begun(world), await begun(slow), await begun(world)];
    const elsewhere = await begun(other);
    const { escalations } = instance();
    const [locked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const changing = stores.postgres.begin(async (tx) => {
      await tx`SELECT 1 FROM incidents WHERE id = ${held} FOR UPDATE`;
      // What a page of this organisation cannot be written without.
      await tx`SELECT 1 FROM organizations WHERE id = ${slow.organizationId} FOR UPDATE`;
      locked.resolve();
      await done.promise;
    });
    await locked.promise;
    const isPaged = (of: World, id: number) =>
      eventually("it is paged", async () => (await pages(of, id)).length === 1 || null);
    escalations.start();
    await Promise.all([isPaged(world, sound), isPaged(other, elsewhere)]);
    expect([await pages(world, held), await pages(slow, stuck)]).toEqual([[], []]);
    done.resolve();
    await changing;
    await Promise.all([isPaged(world, held), isPaged(slow, stuck)]);
    await escalations.stop();
  });

  test("begins once for each time that its incident is open, however often it is told of it", async () => {
    const world = await makeWorld();
    const incidentId = await openIncident(world);
    const policyId = await makePolicy(world, [userStep(world.ben, 0), userStep(world.ana, 60)]);
    await begin(world, incidentId, policyId);
    await instance().stepDue();
    await begin(world, incidentId, policyId);
    await passTime(incidentId);
    await instance().stepDue();
    const paged = (await pages(world, incidentId)).filter(({ kind }) => kind === "page");
    expect(paged.map(({ to }) => to.slice(0, 3))).toEqual(["ben", "ana"]);
  });

  test("names no policy of another organisation", async () => {
    const [world, other] = [await makeWorld(), await makeWorld()];
    const incidentId = await openIncident(world);
    await begin(world, incidentId, await makePolicy(other, [userStep(other.ben, 0)]));
    expect(await stateOf(incidentId)).toEqual([]);
  });
});

describe("a step that is cut off", () => {
  test.each([
    "FROM incidents WHERE organization_id",
    "SELECT policy, step, cycle, next_at",
    "FROM memberships m JOIN users",
    "UPDATE escalations",
    "FROM contact_methods",
    "INSERT INTO deliveries",
    "INSERT INTO events",
    "commit",
  ])("before the statement %p is taken once all the same, and its page written once", async (statement) => {
    const world = await makeWorld();
    const incidentId = await openIncident(world);
    await begin(
      world,
      incidentId,
      await makePolicy(world, [userStep(world.ben, 0), userStep(world.ana, 3600)]),
    );
    const url = new URL(stores.postgresUrl);
    const gate = await openStatementGate({ host: url.hostname, port: Number(url.port) });
    url.port = String(gate.port);
    const cut = createPostgres(url.href, { maxConnections: 1 });
    await cut`SELECT 1`;
    gate.stopAt(statement);
    const outcome = instance({ sql: cut })
      .stepDue()
      .catch(() => undefined);
    await gate.stopped;
    await gate.close();
    await outcome;
    await cut.end({ timeout: 0 });
    expect(await pages(world, incidentId)).toEqual([]);
    const instances = [instance(), instance()];
    await eventually("the step is taken", async () => {
      await Promise.all(instances.map(({ stepDue }) => stepDue()));
      return (await pages(world, incidentId)).length > 0 || null;
    });
    for (const { stepDue } of instances) await stepDue();
    expect((await pages(world, incidentId)).map(({ kind, to }) => [kind, to.slice(0, 3)])).toEqual([
      ["page", "ben"],
    ]);
    const told = await stores.postgres`SELECT 1 FROM events WHERE organization_id = ${world.organizationId}`;
    expect(told).toHaveLength(1);
  });
});
