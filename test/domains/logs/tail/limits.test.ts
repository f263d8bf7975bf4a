/** What a live tail refuses, and how it ends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { makeSession, makeTenant, openTail, postSession, send, startTailServer } from "./tail-server.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
}, 60_000);
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

  test("an organization has 1024 sessions, and others are not concerned", async () => {
    const server = await startTailServer(stores);
    const tenant = await makeTenant(stores);
    for (let i = 0; i < 1024; i += 64)
      await Promise.all(Array.from({ length: 64 }, () => makeSession(server, tenant)));
    const refused = await postSession(server, tenant.token, {});
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: "TAIL_LIMIT_REACHED" });
    await makeSession(server, await makeTenant(stores));
    await stores.postgres`UPDATE tail_sessions SET expires_at = now() WHERE organization_id = ${tenant.organizationId}`;
    await makeSession(server, tenant);
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
