/** Live tails with a query, whether it is evaluated here or by the store. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { EventReader } from "./event-reader.ts";
import {
  makeSession,
  makeTenant,
  openTail,
  postSession,
  send,
  startTailServer,
  type TailServer,
} from "./tail-server.ts";

let stores: TestStores;
let server: TailServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await startTailServer(stores, { tails: { commentIntervalMs: 50 } });
});
afterAll(async () => {
  await server.close();
  await stores.close();
});

const ENTRIES = [
  { message: "0 Timeout of upstream", level: "error", service: "api", attrs: { status: 503, user: "ana" } },
  { message: "1 timeouts", level: "error", service: "api", attrs: { status: 200 } },
  { message: "2 fine", level: "info", service: "web", attrs: { status: "503", user: "Bob" } },
  { message: "3 no status", level: "warn", service: "web" },
  { message: "4 nested", level: "error", service: "db", attrs: { user: { id: "ana" }, status: 503.5 } },
];

describe("a tail with a query", () => {
  test.each([
    ['level == "error" and message has "timeout"', [0]],
    ['message has "timeout" or service startswith "W"', [0, 2, 3]],
    ["status >= 500", [0, 2, 4]],
    ['logs | where level == "error" | where service in ("api", "db")', [0, 1, 4]],
    ["isempty(status)", [3]],
    // What only the store evaluates.
    ['message matches regex "^[0-9] [a-z]+$"', [1, 2, 4]],
    ["strlen(message) > 10", [0, 3]],
    ['user.id == "ana"', [4]],
  ])("%s shows what it lets through", async (query, rows) => {
    const tenant = await makeTenant(stores);
    const tail = await openTail(server, await makeSession(server, tenant, { query }));
    await tail.next("");
    await send(server, tenant, ENTRIES);
    await send(server, tenant, ENTRIES);
    const expected = rows.map((row) => ENTRIES[row]?.message ?? "");
    expect(await tail.haveMessages(2 * rows.length)).toEqual([...expected, ...expected]);
    await Bun.sleep(20);
    expect(tail.messages).toHaveLength(2 * rows.length);
    tail.close();
  });

  test("goes on with the store when a value comes that only the store can read, without a loss or a repetition", async () => {
    const tenant = await makeTenant(stores);
    const tail = await openTail(server, await makeSession(server, tenant, { query: "size > 10" }));
    const messages: string[] = [];
    for (let i = 0; i < 60; i++) {
      const size = i % 3 === 0 ? 5 : i === 31 ? " 0x20 " : 11;
      const isShown = i % 3 !== 0 && i !== 31;
      if (isShown) messages.push(`entry ${i}`);
      await send(server, tenant, [{ message: `entry ${i}`, attrs: { size } }]);
    }
    await tail.haveMessages(messages.length);
    await send(server, tenant, [{ message: "last", attrs: { size: 12 } }]);
    expect(await tail.haveMessages(messages.length + 1)).toEqual([...messages, "last"]);
    tail.close();
  });

  test("of either kind comes back without a loss or a repetition", async () => {
    const tenant = await makeTenant(stores);
    for (const query of ["n >= 0", "strlen(message) > 0"]) {
      const session = await makeSession(server, tenant, { query });
      let tail = await openTail(server, session);
      await tail.next("");
      const seen: string[] = [];
      const expected: string[] = [];
      for (let i = 0; i < 60; i++) {
        expected.push(`entry ${i}`);
        await send(server, tenant, [{ message: `entry ${i}`, attrs: { n: i } }]);
        if (i % 20 !== 10) continue;
        tail.close();
        await eventually("the reader has stopped", () => tail.isEnded);
        seen.push(...tail.messages);
        tail = await openTail(server, session, tail.lastEventId);
      }
      await eventually("everything is shown", () => seen.length + tail.messages.length >= expected.length);
      expect([...seen, ...tail.messages]).toEqual(expected);
      tail.close();
    }
  });

  test("is narrowed by the parameters of the stream", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant, { query: "strlen(message) > 0 and status >= 200" });
    const tail = await EventReader.open(
      `${server.url}/api/v1/logs/tail?token=${session}&level=error&q=timeout`,
    );
    await send(server, tenant, ENTRIES);
    expect(await tail.haveMessages(2)).toEqual(["0 Timeout of upstream", "1 timeouts"]);
    tail.close();
  });

  test.each([
    "message ==",
    "nope | where x",
    "logs | take 5",
    "logs | summarize count()",
    "logs | project message",
  ])("%s is refused", async (query) => {
    const { token } = await makeTenant(stores);
    const refused = await postSession(server, token, { query });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      code: "KQL_INVALID",
      fields: [{ path: "/query", line: 1 }],
    });
  });
});
