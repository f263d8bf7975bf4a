/** Every error counts once, whoever dies when, and however many different ones there are. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  type Entry,
  type ErrorServer,
  errorServer,
  HOUR_MS,
  makeOrganization,
  NEVER,
  PATH,
} from "./error-server.ts";

const BOUNDS = { ofHour: 5, inAll: 12 };

let stores: TestStores;
let server: ErrorServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await errorServer(stores, BOUNDS);
});
afterAll(() => stores.close());

const WORDS = [
  "alpha",
  "bravo",
  "carol",
  "delta",
  "echo",
  "foxes",
  "golf",
  "hotel",
  "india",
  "julia",
  "kilos",
  "limas",
];
const failed = (word: string, more: Entry = {}): Entry => ({ message: `${word} failed`, ...more });

/** Titles and counts, and what the hours have of all of them. */
async function counted(organizationId: number): Promise<{ groups: Record<string, number>; hours: number }> {
  const { items } = await server.list(organizationId);
  let hours = 0;
  for (const { id } of items) {
    const { body } = await server.send(organizationId, "GET", `${PATH}/${id}`);
    hours += body.days.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  }
  const groups = items.map(({ title, count }: { title: string; count: number }) => [title, count]);
  return { groups: Object.fromEntries(groups), hours };
}

test("a seal that dies behind its insert, or before its end, loses nothing and counts nothing twice", async () => {
  const own = await makeOrganization(stores);
  await server.take(own, failed("alpha"));
  await server.store(own, failed("alpha"), failed("bravo"), failed("bravo"));
  for (const at of ["before the insert", "behind the insert"] as const) {
    server.death.at = at;
    await expect(server.sealer.workOnce(NEVER)).rejects.toThrow(at);
  }
  server.death.at = "no";
  // Meanwhile more comes; what was begun ends where it was to end.
  await server.store(own, failed("alpha"));
  for (const window of [0, 10_000])
    await stores.clickhouse.command({
      query: `ALTER TABLE signals MODIFY SETTING non_replicated_deduplication_window = ${window}`,
    });
  await server.seal();
  await server.seal();
  expect(await counted(own)).toEqual({ groups: { "alpha failed": 3, "bravo failed": 2 }, hours: 5 });
});

test("the end of a seal that fails keeps nothing of it, and the next try everything", async () => {
  const own = await makeOrganization(stores);
  await server.store(own, failed("alpha"), failed("bravo"));
  await stores.postgres`ALTER TABLE error_groups ADD CONSTRAINT none CHECK (organization_id <> ${stores.postgres.unsafe(String(own))})`;
  await expect(server.sealer.workOnce(NEVER)).rejects.toThrow();
  await stores.postgres`ALTER TABLE error_groups DROP CONSTRAINT none`;
  await server.seal();
  expect(await counted(own)).toEqual({ groups: { "alpha failed": 1, "bravo failed": 1 }, hours: 2 });
});

test("an hour makes so many groups; the other errors are counted and the list says so, and known groups go on", async () => {
  const own = await makeOrganization(stores);
  await server.take(own, failed("alpha"));
  await server.take(own, ...WORDS.flatMap((word) => [failed(word), failed(word)]));
  const list = await server.list(own);
  expect(list.items).toHaveLength(BOUNDS.ofHour);
  const inGroups = list.items.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  expect(inGroups + list.other.count).toBe(1 + 2 * WORDS.length);
  expect(list.other.lastHour).not.toBeNull();
  await server.take(own, failed("alpha"));
  const { groups } = await counted(own);
  expect(groups["alpha failed"]).toBe(4);
  expect((await server.list(own)).other).toEqual(list.other);
});

test("an organisation has so many groups in all", async () => {
  const own = await makeOrganization(stores);
  const [alpha, ...others] = WORDS;
  for (const prefix of ["first", "second", "third", "fourth"]) {
    const messages = [alpha, ...others].map((word) => `${prefix} ${word}`);
    await server.take(own, ...messages.flatMap((message) => [failed(message), failed(message)]));
    await stores.postgres`
      UPDATE error_group_hours SET hour = hour - interval '1 hour' * (SELECT 1 + count(*) FROM error_group_hours
        WHERE organization_id = ${own}) WHERE organization_id = ${own} AND hour = date_trunc('hour', now())`;
  }
  const list = await server.list(own, "status=all&limit=200");
  expect(list.items).toHaveLength(BOUNDS.inAll);
  expect(list.other.count).toBe(2 * (4 * WORDS.length - BOUNDS.inAll));
});

test("errors that came once take half of what an hour may make, so that a fault that comes again still gets a group", async () => {
  const own = await makeOrganization(stores);
  await server.take(own, ...WORDS.map((word) => failed(word)));
  expect((await server.list(own)).items).toHaveLength(Math.ceil(BOUNDS.ofHour / 2));
  await server.take(own, failed("once"), failed("twice"), failed("twice"));
  const { groups } = await counted(own);
  expect([groups["once failed"], groups["twice failed"]]).toEqual([undefined, 2]);
});

test("a seal keeps the groups with most errors, and what is told apart of one is bounded", async () => {
  const own = await makeOrganization(stores);
  const word = (n: number): string => [...String(n)].map((digit) => "abcdefghij"[Number(digit)]).join("");
  const rare = Array.from({ length: 600 }, (_, n) => failed(`rare ${word(n)} x`));
  await server.take(own, ...rare, failed("frequent"), failed("frequent"));
  const list = await server.list(own);
  expect(list.items).toContainEqual(expect.objectContaining({ title: "frequent failed", count: 2 }));
  const inGroups = list.items.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  expect(inGroups + list.other.count).toBe(602);
  const [row] = await (
    await stores.clickhouse.query({
      query: `SELECT uniqExact(label) AS groups, toInt64(sum(n)) AS n FROM signals WHERE organization_id = ${own}`,
      format: "JSONEachRow",
    })
  ).json<{ groups: string; n: string }>();
  expect([Number(row?.groups), Number(row?.n)]).toEqual([501, 602]);
});

test("what was quiet for longer than anything is kept of it is removed, but not what a living group attracts", async () => {
  const own = await makeOrganization(stores);
  await server.take(own, failed("alpha"), failed("bravo"), failed("carol"));
  const { items } = await server.list(own);
  const idOf = (word: string): number =>
    items.find(({ title }: { title: string }) => title.startsWith(word))?.id ?? 0;
  const old = new Date(server.clock.nowMs - 401 * 24 * HOUR_MS);
  await stores.postgres`
    UPDATE error_groups SET last_seen = ${old}, active_at = ${old}, first_seen = ${old}
    WHERE organization_id = ${own} AND id IN (${idOf("alpha")}, ${idOf("bravo")})`;
  await server.send(own, "POST", `${PATH}/${idOf("bravo")}/merge`, { into: idOf("carol") });
  for (const remove of server.housekeeping) await remove(stores.postgres, server.clock.nowMs, 100);
  expect(await server.single(own)).toMatchObject({ id: idOf("carol"), merged: [{ id: idOf("bravo") }] });
});
