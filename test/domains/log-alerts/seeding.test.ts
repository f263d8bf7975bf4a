/** Rules that come with the server: each is made once, and what people made of it stays theirs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PACKS } from "../../../src/rules/packs/catalog.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization, PATH } from "./alert-server.ts";

const LINUX = PACKS.find(({ id }) => id === "linux-auth")?.rules.length ?? 0;
const ALL = PACKS.reduce((total, { rules }) => total + rules.length, 0);

let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

test("the catalogue shows each rule with an entry that it counts", async () => {
  const { status, body } = await server.send(await makeOrganization(stores), "GET", `${PATH}/catalog`);
  expect(status).toBe(200);
  expect(body).toHaveLength(PACKS.length);
  expect(body[0].rules[0]).toMatchObject({ id: "ssh-password-guessing", counts: { service: "sshd" } });
});

test("seeding makes each rule once, also when it is asked at once, and none of what people changed or made", async () => {
  const own = await makeOrganization(stores);
  const seed = (json: object) => server.send(own, "POST", `${PATH}/seed`, json);
  const both = await Promise.all([seed({ packs: ["linux-auth"] }), seed({ packs: ["linux-auth"] })]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect(both.map(({ body }) => body.created).toSorted((a, b) => a - b)).toEqual([0, LINUX]);
  const listed = async () => (await server.send(own, "GET", PATH)).body;
  expect(await listed()).toHaveLength(LINUX);
  const [first] = await listed();
  expect(first).toMatchObject({ catalogId: "ssh-password-guessing", enabled: false, state: "off" });
  await server.send(own, "PATCH", `${PATH}/${first.id}`, { threshold: 77, name: "Ours", enabled: true });
  expect((await seed({})).body).toMatchObject({ created: ALL - LINUX, existing: LINUX });
  expect((await listed())[0]).toMatchObject({ threshold: 77, name: "Ours", enabled: true });
  await server.send(own, "DELETE", `${PATH}/${first.id}`);
  expect((await seed({ enable: true })).body).toMatchObject({ created: 1, existing: ALL - 1 });
  expect((await listed()).at(-1)).toMatchObject({
    catalogId: "ssh-password-guessing",
    enabled: true,
    threshold: 10,
  });
});

test("seeding says which packs can find something, makes nothing of an empty list, and refuses what it does not know", async () => {
  const own = await makeOrganization(stores);
  const seed = (json: object) => server.send(own, "POST", `${PATH}/seed`, json);
  expect((await seed({ packs: [] })).body).toEqual({ created: 0, existing: 0, packs: [] });
  expect(await seed({ packs: ["linux-auth", "nothing"] })).toMatchObject({
    ...{ status: 400, body: { fields: [{ path: "/packs/1", code: "custom" }] } },
  });
  expect((await server.send(own, "GET", PATH)).body).toEqual([]);
  await server.store(own, { message: "Failed password for root", service: "sshd", atMs: server.clock.nowMs });
  const { body } = await seed({ packs: ["linux-auth", "kubernetes"] });
  expect(body.packs).toMatchObject([
    { id: "linux-auth", seen: true },
    { id: "kubernetes", seen: false },
  ]);
});

test("a rule of a pack tells of what it is about, one incident for each address", async () => {
  const own = await makeOrganization(stores);
  await server.send(own, "POST", `${PATH}/seed`, { packs: ["linux-auth"], enable: true });
  await server.work();
  server.clock.nowMs += 1000;
  const failed = (address: string) => ({
    ...{ message: `Failed password for root from ${address} port 4022 ssh2`, service: "sshd", host: "web-1" },
    atMs: server.clock.nowMs,
  });
  const entries = Array.from({ length: 10 }, () => failed("203.0.113.7"));
  await server.store(own, ...entries, failed("198.51.100.1"));
  await server.work();
  const told = await server.toldOf(own);
  expect(told.map(({ payload }) => payload.title)).toEqual(["Passwords are guessed over SSH (203.0.113.7)"]);
});
