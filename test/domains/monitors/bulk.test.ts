import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { LEAST, MONITORS, type MonitorApp, monitorApp } from "./monitor-app.ts";

const BULK = `${MONITORS}/bulk`;

let stores: TestStores;
let app: MonitorApp;

beforeAll(async () => {
  stores = await openTestStores();
  app = monitorApp(stores);
});
afterAll(() => stores.close());

async function namesOf({ send }: Awaited<ReturnType<MonitorApp["organization"]>>): Promise<string[]> {
  const listed: { name: string }[] = JSON.parse(await (await send("GET", MONITORS)).text());
  return listed.map(({ name }) => name);
}

describe("a bulk call", () => {
  test("makes all monitors in the order in which they stand, up to a hundred", async () => {
    const calls = await app.organization();
    const names = Array.from({ length: 100 }, (_, i) => `monitor ${i}`);
    const monitors = names.map((name) => ({ ...LEAST, name }));
    const { status, body } = await calls.answer("POST", BULK, { monitors });
    expect(status).toBe(201);
    expect(Object.values(body).map((made) => Object(made).name)).toEqual(names);
    expect(await namesOf(calls)).toEqual(names);
    const more = await calls.answer("POST", BULK, { monitors: [...monitors, LEAST] });
    expect(more.body).toMatchObject({ fields: [{ path: "/monitors", code: "too_big" }] });
  });

  test("makes none when one of them is wrong, and says every place", async () => {
    const calls = await app.organization();
    const schema = await calls.answer("POST", BULK, {
      monitors: [LEAST, { ...LEAST, url: "" }, { ...LEAST, intervalSec: 7 }],
    });
    expect(schema.body).toMatchObject({
      fields: [
        { path: "/monitors/1/url", code: "too_small" },
        { path: "/monitors/2/intervalSec", code: "invalid_literal" },
      ],
    });
    const rules = await calls.answer("POST", BULK, {
      monitors: [{ ...LEAST, type: "tcp" }, LEAST, { ...LEAST, type: "keyword" }],
    });
    expect(rules.body).toMatchObject({
      fields: [{ path: "/monitors/0/port" }, { path: "/monitors/2/keyword" }],
    });
    const blocked = await calls.answer("POST", BULK, {
      monitors: [LEAST, { ...LEAST, alertWebhookUrl: "http://127.0.0.1/" }],
    });
    expect(blocked.body).toMatchObject({
      code: "ALERT_URL_BLOCKED",
      error: expect.stringContaining("/monitors/1/alertWebhookUrl"),
    });
    expect(await namesOf(calls)).toEqual([]);
  });

  test("changes all or none, and none when an id is unknown or another's", async () => {
    const calls = await app.organization();
    const other = await app.organization();
    const [first, second] = [await calls.make({ type: "tcp", port: 1 }), await calls.make()];
    const { id: foreign } = await other.make();
    for (const strange of [foreign, 999_999_999]) {
      const refused = await calls.answer("PATCH", BULK, { ids: [first.id, strange], patch: { name: "new" } });
      expect(refused).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    }
    const wrong = await calls.answer("PATCH", BULK, {
      ids: [second.id, first.id],
      patch: { port: null, name: "new" },
    });
    expect(wrong.body).toMatchObject({ fields: [{ path: "/patch/port", code: "custom" }] });
    expect(await namesOf(calls)).toEqual(["Shop", "Shop"]);
    const done = await calls.answer("PATCH", BULK, {
      ids: [second.id, first.id],
      patch: { name: "new", tags: ["a"] },
    });
    expect(done.status).toBe(200);
    expect(Object.values(done.body).map((one) => Object(one).id)).toEqual([second.id, first.id]);
    expect(await namesOf(calls)).toEqual(["new", "new"]);
    expect(await namesOf(other)).toEqual(["Shop"]);
  });

  test("deletes all or none, as an admin only", async () => {
    const calls = await app.organization();
    const other = await app.organization();
    const ids = [(await calls.make()).id, (await calls.make()).id];
    const { id: foreign } = await other.make();
    expect((await calls.answer("DELETE", BULK, { ids }, "member")).body.code).toBe("FORBIDDEN");
    expect((await calls.answer("DELETE", BULK, { ids: [...ids, foreign] }, "admin")).status).toBe(404);
    expect((await namesOf(calls)).length).toBe(2);
    expect((await calls.answer("DELETE", BULK, { ids: [...ids, ...ids] }, "admin")).status).toBe(204);
    expect(await namesOf(calls)).toEqual([]);
    expect(await namesOf(other)).toEqual(["Shop"]);
  });
});
