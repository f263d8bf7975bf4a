/** Tails and alerts are about what arrives: entries that have moved to the archive are neither shown nor counted again. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { idBefore, TailPosition } from "../../../../src/domains/logs/tail/position.ts";
import { hotIds, makeOrganization, testArchiver } from "../../../archive/archive-setup.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { alertServer, PATH } from "../../log-alerts/alert-server.ts";
import { idAt, insertRows, type StoredRow } from "../stored-rows.ts";
import { makeSession, makeTenant, openTail, send, startTailServer } from "../tail/tail-server.ts";
import { archiveApp } from "./archive-app.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const temporary = temporaryDirectory();
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

function rowsAt(organizationId: number, atMs: number, messages: readonly string[]): StoredRow[] {
  return messages.map((message, i) => ({
    ...{ organizationId, message },
    id: idAt(atMs, i * 1024),
    ts: BigInt(atMs + i) * 1_000_000n,
  }));
}

test("a tail that goes on from before the border shows what the log store has, a search both sides of it", async () => {
  const server = await startTailServer(stores);
  const tenant = await makeTenant(stores);
  const { organizationId } = tenant;
  const [longAgoMs, justNowMs] = [Date.now() - 40 * DAY_MS, Date.now() - MINUTE_MS];
  const [old, recent] = [
    ["old 1", "old 2", "old 3"],
    ["recent 1", "recent 2"],
  ];
  await insertRows(stores.clickhouse, rowsAt(organizationId, longAgoMs, old));
  await insertRows(stores.clickhouse, rowsAt(organizationId, justNowMs, recent));
  const archiver = testArchiver(stores, temporary.path, { now: Date.now });
  await archiver.run();
  expect(await hotIds(stores, organizationId)).toHaveLength(recent.length);

  const found = await archiveApp(stores, archiver.files).page("search", organizationId);
  expect(found.entries.map(({ message }) => message).sort()).toEqual([...old, ...recent]);
  const position = TailPosition.at(longAgoMs - MINUTE_MS, idBefore(longAgoMs - MINUTE_MS));
  const tail = await openTail(server, await makeSession(server, tenant), String(position));
  expect(await tail.haveMessages(recent.length)).toEqual(recent);
  await send(server, tenant, [{ message: "live" }]);
  expect(await tail.haveMessages(recent.length + 1)).toEqual([...recent, "live"]);
  expect(tail.of("error").map(({ data }) => JSON.parse(data).code)).toEqual(["TAIL_GAP_ARCHIVED"]);
  tail.close();
  await server.close();
});

test("a rule tells of what arrived once, and nothing more of it when it has moved; nor does a rule that is made then", async () => {
  // It has no files of the archive: what asked for one would fail.
  const server = await alertServer(stores);
  const organizationId = await makeOrganization(stores);
  const make = (name: string) =>
    server.send(organizationId, "POST", PATH, { name, query: "refused", threshold: 3, windowSec: 86_400 });
  const told = async () =>
    (await server.toldOf(organizationId)).map(({ kind, payload }) => [kind, payload.source?.name]);
  await make("first");
  await server.work();
  const atMs = server.clock.nowMs;
  await server.store(organizationId, ...[0, 1, 2].map((ms) => ({ message: "refused", atMs: atMs + ms })));
  await server.work();
  expect(await told()).toEqual([["raised", "first"]]);

  server.clock.nowMs += 40 * DAY_MS;
  await testArchiver(stores, temporary.path, { now: () => server.clock.nowMs }).run();
  expect(await hotIds(stores, organizationId)).toEqual([]);
  await make("second");
  await server.work();
  await server.store(organizationId, { message: "refused", atMs: server.clock.nowMs });
  await server.work();
  expect((await told()).filter(([kind]) => kind === "raised")).toEqual([["raised", "first"]]);
  await server.store(
    organizationId,
    ...[1, 2].map((ms) => ({ message: "refused", atMs: server.clock.nowMs + ms })),
  );
  await server.work();
  expect(
    (await told())
      .filter(([kind]) => kind === "raised")
      .slice(1)
      .sort(),
  ).toEqual([
    ["raised", "first"],
    ["raised", "second"],
  ]);
});
