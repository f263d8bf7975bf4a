/** What a live tail refuses, and how it ends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CREDENTIAL_CHECK_MS } from "../../../../src/domains/logs/tail/limits.ts";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { EventReader } from "./event-reader.ts";
import {
  addMember,
  makeSession,
  makeTenant,
  openTail,
  postSession,
  send,
  startTailServer,
  type Tenant,
} from "./tail-server.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

describe("limits", () => {
  test("a session has four streams; a fifth is told why it ends", async () => {
    const server = await startTailServer(stores);
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const tails = await Promise.all([1, 2, 3, 4].map(() => openTail(server, session)));
    const fifth = await openTail(server, session);
    expect(JSON.parse((await fifth.next("error")).data)).toMatchObject({ code: "TAIL_LIMIT_REACHED" });
    await eventually("the fifth ends", () => fifth.isEnded);
    expect(fifth.retryMs).toBe(30_000);
    tails[0]?.close();
    const again = await eventually("a place is free", async () => {
      const tail = await openTail(server, session);
      await tail.next("");
      await send(server, tenant, [{ message: "shown" }]);
      await eventually("an answer", () => tail.isEnded || tail.messages.length > 0);
      return tail.isEnded ? null : tail;
    });
    for (const tail of [...tails, again]) tail.close();
    await server.close();
  });

  test("a person has 512 sessions, an organization 1024, and others are not concerned", async () => {
    const server = await startTailServer(stores);
    const tenant = await makeTenant(stores);
    const people = [tenant, await addMember(stores, tenant), await addMember(stores, tenant)];
    const expectRefusal = async (person: Tenant): Promise<void> => {
      const refused = await postSession(server, person.token, {});
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({ code: "TAIL_LIMIT_REACHED" });
    };
    for (const person of people.slice(0, 2)) {
      for (let i = 0; i < 512; i += 64)
        await Promise.all(Array.from({ length: 64 }, () => makeSession(server, person)));
      await expectRefusal(person);
    }
    for (const person of people) await expectRefusal(person);
    await makeSession(server, await makeTenant(stores));
    await stores.postgres`UPDATE tail_sessions SET expires_at = now() WHERE organization_id = ${tenant.organizationId}`;
    await makeSession(server, tenant);
    await server.close();
  });

  test("a person has 64 streams at a time, and others of the organization have theirs", async () => {
    const server = await startTailServer(stores);
    const tenant = await makeTenant(stores);
    const open = async (person: Tenant) =>
      EventReader.open(`${server.url}/api/v1/logs/tail`, { authorization: `Bearer ${person.token}` });
    const tails = await Promise.all(Array.from({ length: 64 }, () => open(tenant)));
    const refused = await open(tenant);
    expect(JSON.parse((await refused.next("error")).data)).toMatchObject({ code: "TAIL_LIMIT_REACHED" });
    const colleague = await open(await addMember(stores, tenant));
    await send(server, tenant, [{ message: "shown" }]);
    await eventually("a colleague reads", () => colleague.messages.length > 0);
    for (const tail of [...tails, colleague]) tail.close();
    await server.close();
  });

  test("a stream ends when its reader is a member no more, wherever that was decided", async () => {
    const server = await startTailServer(stores);
    const tenant = await makeTenant(stores);
    const own = await EventReader.open(`${server.url}/api/v1/logs/tail`, {
      authorization: `Bearer ${tenant.token}`,
    });
    const ofSession = await openTail(server, await makeSession(server, tenant));
    const stays = await makeTenant(stores);
    const other = await openTail(server, await makeSession(server, stays));
    await Promise.all([own, ofSession, other].map((tail) => tail.next("")));
    // As another instance does it: nothing of this process hears of it.
    await stores.postgres`
      DELETE FROM memberships WHERE organization_id = ${tenant.organizationId} AND user_id = ${tenant.userId}`;
    for (const tail of [own, ofSession])
      expect(JSON.parse((await tail.next("error")).data)).toMatchObject({ code: "UNAUTHENTICATED" });
    await send(server, stays, [{ message: "shown" }]);
    await eventually("others go on", () => other.messages.length > 0);
    expect(CREDENTIAL_CHECK_MS).toBeLessThan(1000);
    other.close();
    await server.close();
  });

  test.each([
    [{ q: "x".repeat(1025) }, "/q"],
    [{ level: "loud" }, "/level"],
    [{ service: "" }, "/service"],
    [{ from: "2026-01-01T00:00:00Z" }, "/from"],
  ])("a session with %p is refused", async (filter, path) => {
    const server = await startTailServer(stores);
    const { token } = await makeTenant(stores);
    const refused = await postSession(server, token, filter);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ code: "VALIDATION_FAILED", fields: [{ path }] });
    await server.close();
  });

  test("a stream cannot ask for a service or level that its session excludes", async () => {
    const server = await startTailServer(stores);
    const session = await makeSession(server, await makeTenant(stores), { level: "error", service: "api" });
    expect((await openTail(server, `${session}&level=warn`)).status).toBe(400);
    expect((await openTail(server, `${session}&service=web`)).status).toBe(400);
    const same = await openTail(server, `${session}&service=api&level=error`);
    expect(same.status).toBe(200);
    same.close();
    await server.close();
  });
});

test("a server that stops says so, with the time to come back, and ends", async () => {
  const server = await startTailServer(stores);
  const tenant = await makeTenant(stores);
  const tail = await openTail(server, await makeSession(server, tenant));
  await tail.next("");
  await server.tails.close();
  expect(JSON.parse((await tail.next("end")).data)).toMatchObject({ code: "UNAVAILABLE" });
  await eventually("the stream ends", () => tail.isEnded);
  expect(tail.retryMs).toBe(2000);
  await server.close();
});
