import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { escalationRoutes } from "../../../src/domains/escalation/routes.ts";
import { readCalendar } from "../../../src/domains/on-call/calendar.ts";
import { onCallDomain } from "../../../src/domains/on-call/domain.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { testLedger } from "../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const NOW = Date.parse("2026-03-02T12:00:00Z");
const SCHEDULES = "/api/v1/on-call/schedules";
const POLICIES = "/api/v1/escalation-policies";
const ORIGIN = "http://localhost:8080";

let stores: TestStores;
let app: TestApp;
let own: Organization;
let foreign: Organization;

interface Organization {
  readonly id: number;
  readonly ana: number;
  readonly ben: number;
}

beforeAll(async () => {
  stores = await openTestStores();
  const sql = stores.postgres;
  const routes = [
    ...onCallDomain({ sql, publicUrl: ORIGIN, now: () => NOW }).routes,
    ...escalationRoutes({ sql }),
  ];
  app = testApp(routes, { ledger: testLedger(sql, () => NOW) });
  own = await makeOrganization();
  foreign = await makeOrganization();
});
afterAll(() => stores.close());

async function makeOrganization(): Promise<Organization> {
  const sql = stores.postgres;
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('o', now()) RETURNING id`;
  const id = row?.id ?? 0;
  const people: number[] = [];
  for (const name of ["ana", "ben"]) {
    const [user] = await sql<{ id: string }[]>`
      INSERT INTO users (email, created_at) VALUES (${`${name}${id}@example.com`}, now()) RETURNING id`;
    await sql`
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      VALUES (${id}, ${user?.id ?? 0}, 'member', now())`;
    people.push(Number(user?.id));
  }
  return { id, ana: people[0] ?? 0, ben: people[1] ?? 0 };
}

async function send(method: string, path: string, json?: unknown, organization = own, scopes = "*") {
  const as = `member/${scopes}/${organization.ana}/${organization.id}`;
  const answer = await app.send(method, path, { as, ...(json !== undefined && { json }) });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
}

async function makeSchedule(fields: object = {}, organization = own): Promise<number> {
  const { status, body } = await send("POST", SCHEDULES, { name: "first line", ...fields }, organization);
  expect(status).toBe(201);
  return body.id;
}

const WEEK = { startsAt: "2026-03-02T09:00:00Z", endsAt: "2026-03-09T09:00:00Z" };

describe("a schedule", () => {
  test("says who is on call, with whoever stands in, and goes back to the turn when that is over", async () => {
    const id = await makeSchedule({ timezone: "Europe/Berlin" });
    expect((await send("GET", `${SCHEDULES}/${id}`)).body).toMatchObject({
      timezone: "Europe/Berlin",
      rotations: [],
      currentOnCallUser: null,
      hasCalendar: false,
    });
    const made = await send("POST", `${SCHEDULES}/${id}/rotations`, { userId: own.ana, ...WEEK });
    expect(made.status).toBe(201);
    const current = async () => (await send("GET", `${SCHEDULES}/${id}`)).body.currentOnCallUser;
    expect(await current()).toEqual({ id: own.ana, email: `ana${own.id}@example.com` });
    const path = `${SCHEDULES}/${id}/rotations/${made.body.id}`;
    expect((await send("PATCH", path, { overrideUserId: own.ben })).status).toBe(200);
    expect(await current()).toMatchObject({ id: own.ben });
    const later = { overrideStartsAt: "2026-03-03T00:00:00Z", overrideEndsAt: "2026-03-04T00:00:00Z" };
    expect((await send("PATCH", path, later)).status).toBe(200);
    expect(await current()).toMatchObject({ id: own.ana });
    expect((await send("DELETE", path)).status).toBe(204);
    expect(await current()).toBeNull();
  });

  test("counts nobody who has left the organisation", async () => {
    const guests = await makeOrganization();
    const id = await makeSchedule({}, guests);
    await send("POST", `${SCHEDULES}/${id}/rotations`, { userId: guests.ana, ...WEEK }, guests);
    const newer = { ...WEEK, startsAt: "2026-03-02T10:00:00Z", userId: guests.ben };
    await send("POST", `${SCHEDULES}/${id}/rotations`, newer, guests);
    await stores.postgres`DELETE FROM memberships WHERE user_id = ${guests.ben}`;
    const { body } = await send("GET", `${SCHEDULES}/${id}`, undefined, guests);
    expect(body.currentOnCallUser).toMatchObject({ id: guests.ana });
    const coverage = await send("GET", "/api/v1/on-call/coverage", undefined, guests);
    expect(coverage.body.absent).toEqual([
      { scheduleId: id, rotationId: expect.any(Number), userId: guests.ben },
    ]);
  });

  test.each([
    [{ userId: 999_999_999, ...WEEK }, "/userId"],
    [{ userId: 1, startsAt: WEEK.endsAt, endsAt: WEEK.startsAt }, "/endsAt"],
    [{ userId: 1, ...WEEK, overrideStartsAt: WEEK.startsAt }, "/overrideUserId"],
    [
      { userId: 1, ...WEEK, overrideUserId: 1, overrideStartsAt: WEEK.endsAt, overrideEndsAt: WEEK.startsAt },
      "/overrideEndsAt",
    ],
  ])("refuses the turn %j", async (turn, path) => {
    const id = await makeSchedule();
    const userIds = {
      ...(turn.userId === 1 && { userId: own.ana }),
      ...("overrideUserId" in turn && { overrideUserId: own.ben }),
    };
    const { status, body } = await send("POST", `${SCHEDULES}/${id}/rotations`, { ...turn, ...userIds });
    expect(status).toBe(400);
    expect(body.fields).toEqual([{ path, code: "custom", message: expect.any(String) }]);
  });

  test("refuses people of another organisation, wherever they are named", async () => {
    const id = await makeSchedule();
    const rotations = `${SCHEDULES}/${id}/rotations`;
    const turn = await send("POST", rotations, { userId: foreign.ana, ...WEEK });
    expect(turn.body.fields[0].path).toBe("/userId");
    const override = await send("POST", rotations, { userId: own.ana, ...WEEK, overrideUserId: foreign.ana });
    expect(override.body.fields[0].path).toBe("/overrideUserId");
    const generate = { userIds: [own.ana, foreign.ana], everyDays: 7, handoff: "09:00" };
    const range = { from: "2026-03-02T09:00:00Z", until: "2026-03-30T09:00:00Z" };
    const generated = await send("POST", `${rotations}/generate`, { ...generate, ...range });
    expect(generated.body.fields[0].path).toBe("/userIds/1");
  });

  test("refuses a zone that is none, made and changed", async () => {
    const refused = await send("POST", SCHEDULES, { name: "a", timezone: "Mars/Olympus" });
    expect(refused.status).toBe(400);
    expect(refused.body.fields[0].path).toBe("/timezone");
    expect((await send("PATCH", `${SCHEDULES}/${await makeSchedule()}`, { timezone: "+02:00" })).status).toBe(
      400,
    );
  });

  test("has turns generated without a gap, and reports the gap that is made by hand", async () => {
    const organization = await makeOrganization();
    const id = await makeSchedule({ timezone: "Europe/Berlin" }, organization);
    const rotations = `${SCHEDULES}/${id}/rotations`;
    const body = { userIds: [organization.ana, organization.ben], everyDays: 7, handoff: "09:00" };
    const range = { from: "2026-03-02T12:00:00Z", until: "2026-04-13T07:00:00Z" };
    const made = await send("POST", `${rotations}/generate`, { ...body, ...range }, organization);
    expect(made.status).toBe(201);
    expect(made.body.map(({ userId }: { userId: number }) => userId)).toEqual(
      Array.from({ length: 6 }, (_, turn) => (turn % 2 === 0 ? organization.ana : organization.ben)),
    );
    const covered = async () =>
      (
        await send(
          "GET",
          `/api/v1/on-call/coverage?from=${range.from}&to=${range.until}`,
          undefined,
          organization,
        )
      ).body;
    expect(await covered()).toEqual({ gaps: [], absent: [], truncated: false });
    const [, second] = made.body;
    await send("DELETE", `${rotations}/${second.id}`, undefined, organization);
    expect((await covered()).gaps).toEqual([{ scheduleId: id, from: second.startsAt, to: second.endsAt }]);
  });

  test("has no more turns than its bound", async () => {
    const id = await makeSchedule();
    const body = { userIds: [own.ana], everyDays: 1, handoff: "09:00", from: WEEK.startsAt };
    const refused = await send("POST", `${SCHEDULES}/${id}/rotations/generate`, {
      ...body,
      until: "2036-03-02T09:00:00Z",
    });
    expect(refused.status).toBe(409);
    expect((await send("GET", `${SCHEDULES}/${id}`)).body.rotations).toEqual([]);
  });

  test("is its organisation's alone, with its turns", async () => {
    const id = await makeSchedule();
    const { body } = await send("POST", `${SCHEDULES}/${id}/rotations`, { userId: own.ana, ...WEEK });
    const other = await makeSchedule();
    const foreigners: [string, string, unknown?][] = [
      ["GET", `${SCHEDULES}/${id}`],
      ["PATCH", `${SCHEDULES}/${id}`, { name: "mine" }],
      ["POST", `${SCHEDULES}/${id}/rotations`, { userId: foreign.ana, ...WEEK }],
      ["DELETE", `${SCHEDULES}/${id}/rotations/${body.id}`],
      ["POST", `${SCHEDULES}/${id}/calendar`],
      ["DELETE", `${SCHEDULES}/${id}`],
    ];
    for (const [method, path, json] of foreigners)
      expect([path, (await send(method, path, json, foreign)).status]).toEqual([path, 404]);
    // A turn is found under its own schedule only.
    expect((await send("DELETE", `${SCHEDULES}/${other}/rotations/${body.id}`)).status).toBe(404);
    expect((await send("GET", `${SCHEDULES}/${id}`)).body.rotations).toHaveLength(1);
  });
});

describe("the calendar of a schedule", () => {
  async function calendarOf(id: number): Promise<string> {
    const { body } = await send("POST", `${SCHEDULES}/${id}/calendar`);
    return body.url.slice(ORIGIN.length);
  }

  test("shows the shifts to whoever has its address, until there is another one", async () => {
    const id = await makeSchedule({ name: "Shop; night" });
    const midweek = { overrideStartsAt: "2026-03-04T00:00:00Z", overrideEndsAt: "2026-03-05T00:00:00Z" };
    await send("POST", `${SCHEDULES}/${id}/rotations`, {
      ...{ userId: own.ana, ...WEEK },
      ...{ overrideUserId: own.ben, ...midweek },
    });
    const path = await calendarOf(id);
    const answer = await app.send("GET", path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toStartWith("text/calendar");
    const lines = (await answer.text()).replaceAll("\r\n ", "").split("\r\n");
    expect(lines.filter((line) => line.startsWith("DTSTART"))).toEqual([
      "DTSTART:20260302T090000Z",
      "DTSTART:20260304T000000Z",
      "DTSTART:20260305T000000Z",
    ]);
    expect(lines.filter((line) => line.startsWith("SUMMARY"))[1]).toBe(
      `SUMMARY:Shop\\; night: ben${own.id}@example.com`,
    );
    expect(await (await app.send("GET", path)).text()).toBe(await (await app.send("GET", path)).text());
    expect(await calendarOf(id)).not.toBe(path);
    expect((await app.send("GET", path)).status).toBe(404);
    expect((await send("DELETE", `${SCHEDULES}/${id}/calendar`)).status).toBe(204);
    expect((await send("GET", `${SCHEDULES}/${id}`)).body.hasCalendar).toBe(false);
  });

  test("keeps the name of a shift that is under way for longer than it looks back", async () => {
    const id = await makeSchedule();
    const turn = { startsAt: "2025-12-01T00:00:00Z", endsAt: "2026-06-01T00:00:00Z" };
    await send("POST", `${SCHEDULES}/${id}/rotations`, { userId: own.ana, ...turn });
    const token = /calendars?\/([^/.]+)/.exec(await calendarOf(id))?.[1] ?? "";
    const names = async (nowMs: number): Promise<string[]> => {
      const text = (await readCalendar(stores.postgres, token, nowMs)).replaceAll("\r\n ", "");
      return text.split("\r\n").filter((line) => line.startsWith("UID"));
    };
    const before = await names(NOW);
    expect(before).toHaveLength(1);
    expect(await names(NOW + 86_400_000)).toEqual(before);
  });
});

describe("an escalation policy", () => {
  test("is made, changed and deleted; its schedule cannot be deleted before it", async () => {
    const scheduleId = await makeSchedule();
    const steps = [
      { type: "schedule", delaySec: 0, scheduleId },
      { type: "user", delaySec: 300, userId: own.ben },
    ];
    const made = await send("POST", POLICIES, { name: "night", steps });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ name: "night", steps, repeat: 0, description: null });
    expect((await send("GET", POLICIES)).body).toContainEqual(made.body);
    const refused = await send("DELETE", `${SCHEDULES}/${scheduleId}`);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain("night");
    const path = `${POLICIES}/${made.body.id}`;
    expect((await send("PATCH", path, { repeat: 2, description: "x" })).body).toMatchObject({
      repeat: 2,
      steps,
    });
    expect((await send("GET", path, undefined, foreign)).status).toBe(404);
    expect((await send("DELETE", path)).status).toBe(204);
    expect((await send("DELETE", `${SCHEDULES}/${scheduleId}`)).status).toBe(204);
  });

  test("names nothing of another organisation", async () => {
    const theirs = await makeSchedule({}, foreign);
    const steps = [
      { type: "user", delaySec: 0, userId: own.ana },
      { type: "schedule", delaySec: 0, scheduleId: theirs },
      { type: "user", delaySec: 0, userId: foreign.ana },
    ];
    const { status, body } = await send("POST", POLICIES, { name: "a", steps });
    expect(status).toBe(400);
    expect(body.fields.map(({ path }: { path: string }) => path)).toEqual([
      "/steps/1/scheduleId",
      "/steps/2/userId",
    ]);
  });

  test.each([
    [{ steps: [] }, "/steps"],
    [{ steps: [{ type: "user", delaySec: -1, userId: 1 }] }, "/steps/0/delaySec"],
    [{ steps: [{ type: "user", delaySec: 604_801, userId: 1 }] }, "/steps/0/delaySec"],
    [{ steps: [{ type: "user", delaySec: 0, userId: 0 }] }, "/steps/0/userId"],
    [{ steps: [{ type: "user", delaySec: 0, userId: 1 }], repeat: 11 }, "/repeat"],
  ])("refuses %j", async (fields, path) => {
    const { status, body } = await send("POST", POLICIES, { name: "a", ...fields });
    expect(status).toBe(400);
    expect(body.fields.map((field: { path: string }) => field.path)).toContain(path);
  });

  test("does not repeat without any time to answer", async () => {
    const steps = [{ type: "user", delaySec: 30, userId: own.ana }];
    const refused = await send("POST", POLICIES, { name: "a", steps, repeat: 1 });
    expect(refused.body.fields[0].path).toBe("/repeat");
    const made = await send("POST", POLICIES, { name: "a", steps });
    expect((await send("PATCH", `${POLICIES}/${made.body.id}`, { repeat: 1 })).status).toBe(400);
  });

  test("cannot be deleted while a monitor escalates by it", async () => {
    const steps = [{ type: "user", delaySec: 0, userId: own.ana }];
    const { body } = await send("POST", POLICIES, { name: "a", steps });
    await stores.postgres`
      INSERT INTO monitors (organization_id, name, url, type, interval_sec, timeout_ms, escalation_policy_id,
                            heartbeat_token_hash, sealed_heartbeat_token, created_at, updated_at)
      VALUES (${own.id}, 'm', 'https://example.com', 'https', 60, 5000, ${body.id},
              ${crypto.getRandomValues(new Uint8Array(32))}, ${new Uint8Array(1)}, now(), now())`;
    const refused = await send("DELETE", `${POLICIES}/${body.id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toMatch(/monitor:\d+/);
  });

  test("cannot be deleted while it is the default of its organisation", async () => {
    const steps = [{ type: "user", delaySec: 0, userId: own.ana }];
    const { body } = await send("POST", POLICIES, { name: "a", steps });
    await stores.postgres`
      INSERT INTO alert_defaults (organization_id, escalation_policy_id, updated_at)
      VALUES (${own.id}, ${body.id}, now())`;
    const refused = await send("DELETE", `${POLICIES}/${body.id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain("the default of the organisation");
  });
});
