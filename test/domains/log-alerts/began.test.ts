/** A rule that is new, or enabled again, pages for nothing that came before it, whatever else comes to the same buckets; what comes later counts together with it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization, PATH } from "./alert-server.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

/** The clock stands so long after the next full hour, in the middle of buckets and windows. */
function toMiddle(afterMs: number): void {
  server.clock.nowMs = Math.ceil((server.clock.nowMs + 1) / (60 * MINUTE_MS)) * 60 * MINUTE_MS + afterMs;
}

const entry = (host: string, atMs: number) => ({ message: "zw1 fail", host, atMs });

/** Of which hosts somebody was told. */
async function toldOf(organizationId: number): Promise<string[]> {
  const told = await server.toldOf(organizationId);
  return told.map(({ kind, payload }) => `${kind} ${payload.title}`);
}

test.each([
  [30, "made"],
  [1200, "made"],
  [30, "enabled"],
  [1200, "enabled"],
])(
  "a rule with a window of %i s that is %s pages for no group that is only in the past",
  async (windowSec, how) => {
    toMiddle(0);
    const own = await makeOrganization(stores);
    const terms = { name: "rule", query: "zw1", threshold: 3, windowSec, groupBy: ["host"] };
    const beginsMs = server.clock.nowMs;
    const resting =
      how === "enabled" ? await server.send(own, "POST", PATH, { ...terms, enabled: false }) : null;
    server.clock.nowMs = beginsMs + 400;
    await server.store(own, ...Array.from({ length: 3 }, () => entry("old", beginsMs + 301)));
    await server.seal();
    server.clock.nowMs = beginsMs + 3844;
    if (resting === null) await server.send(own, "POST", PATH, terms);
    else await server.send(own, "PATCH", `${PATH}/${resting.body.id}`, { enabled: true });
    await server.work();
    expect(await toldOf(own)).toEqual([]);
    // Another group's entry, and a late one of the same bucket.
    server.clock.nowMs = beginsMs + 7000;
    await server.store(own, entry("new", beginsMs + 7000));
    await server.work();
    await server.store(own, entry("late", beginsMs + 2000));
    await server.work();
    expect(await toldOf(own)).toEqual([]);
    // Its own next entry counts together with those from before.
    server.clock.nowMs = beginsMs + 8000;
    await server.store(own, entry("old", beginsMs + 8000));
    await server.work();
    expect(await toldOf(own)).toEqual(["raised rule (old)"]);
    const [raised] = await server.toldOf(own);
    expect(raised?.payload.since).toBe(new Date(beginsMs + 8000).toISOString());
  },
);

test("what needs an entry that came after the rule was made is found though that one is a little older", async () => {
  toMiddle(0);
  const own = await makeOrganization(stores);
  const beginsMs = server.clock.nowMs;
  server.clock.nowMs = beginsMs + 2000;
  await server.store(own, entry("slow", beginsMs + 1000), entry("slow", beginsMs + 2000));
  server.clock.nowMs = beginsMs + 3000;
  const terms = { name: "rule", query: "zw1", threshold: 3, windowSec: 30, groupBy: ["host"] };
  await server.send(own, "POST", PATH, terms);
  await server.work();
  expect(await toldOf(own)).toEqual([]);
  server.clock.nowMs = beginsMs + 4000;
  await server.store(own, entry("slow", beginsMs + 1500));
  await server.work();
  await server.work();
  expect(await toldOf(own)).toEqual(["raised rule (slow)"]);
});

test("a window that was unusual before the rule was made is told only with an entry that came later", async () => {
  for (const isLater of [false, true]) {
    toMiddle(0);
    const own = await makeOrganization(stores);
    const beginsMs = server.clock.nowMs;
    const usual = Array.from({ length: 60 * 5 }, (_, i) =>
      entry("h", beginsMs - (1 + Math.floor(i / 5)) * MINUTE_MS),
    );
    await server.store(own, ...usual);
    server.clock.nowMs = beginsMs + 10 * SECOND_MS;
    await server.store(own, ...Array.from({ length: 60 }, () => entry("h", beginsMs + 5 * SECOND_MS)));
    await server.seal();
    server.clock.nowMs = beginsMs + 20 * SECOND_MS;
    const terms = { name: "rule", kind: "anomaly", query: "zw1", windowSec: 60, baselineHours: 1 };
    await server.send(own, "POST", PATH, terms);
    await server.work();
    server.clock.nowMs = beginsMs + 30 * SECOND_MS;
    if (isLater) await server.store(own, entry("h", server.clock.nowMs));
    await server.work();
    await server.pass(2 * MINUTE_MS);
    await server.pass(SECOND_MS);
    expect((await toldOf(own)).slice(0, 1)).toEqual(isLater ? ["raised rule"] : []);
  }
});
