/** The planner of Postgres knows a table as it was when somebody looked last; a feed is written and gone in between. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { makeOrganization } from "../log-alerts/alert-server.ts";
import { type IocServer, iocServer, PATH } from "./ioc-server.ts";

/** So many that holding each against each takes longer than a change has, on any machine. */
const NAMES = 40_000;

let stores: TestStores;
let server: IocServer;
let feedServer: ReturnType<typeof Bun.serve>;
let served = "";
beforeAll(async () => {
  stores = await openTestStores();
  server = await iocServer(stores);
  feedServer = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(served) });
});
afterAll(async () => {
  await feedServer.stop(true);
  await stores.close();
});

test("what a deleted feed listed expires where the planner takes the table of indicators for empty", async () => {
  const { sql } = server;
  const own = await makeOrganization(stores);
  served = Array.from({ length: NAMES }, (_, i) => `host-${i}.example.com`).join("\n");
  const { body } = await server.send(own, "POST", `${PATH}/feeds`, {
    ...{ name: "Names", url: `http://127.0.0.1:${feedServer.port}/feed.csv`, format: "csv" },
  });
  await server.fetchFeeds();
  const activeOf = async () => {
    const [row] = await sql<{ n: number }[]>`
      SELECT count(*)::integer AS n FROM iocs WHERE organization_id = ${own} AND expires_at IS NULL`;
    return row?.n;
  };
  expect(await activeOf()).toBe(NAMES);
  await lookWhileEmpty();
  expect((await server.send(own, "DELETE", `${PATH}/feeds/${body.id}`)).status).toBe(204);
  await server.fetchFeeds();
  expect(await activeOf()).toBe(0);
});

/** As if statistics were gathered while all of it was being written: they stay when the transaction that sees them so does not. */
async function lookWhileEmpty(): Promise<void> {
  const undone = new Error("undone");
  const looking = stores.postgres.begin(async (tx) => {
    await tx`DELETE FROM iocs`;
    await tx`ANALYZE iocs`;
    throw undone;
  });
  await expect(looking).rejects.toBe(undone);
  const [row] = await stores.postgres<{ rows: number }[]>`
    SELECT reltuples AS rows FROM pg_class WHERE oid = 'iocs'::regclass`;
  expect(row?.rows).toBe(0);
}
