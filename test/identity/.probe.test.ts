import { test } from "bun:test";
import { openTestStores } from "../harness/stores.ts";
import { openTcpProxy } from "../harness/tcp-proxy.ts";
import { askPostgres } from "../../src/storage/ask-postgres.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
test("probe", async () => {
  const stores = await openTestStores({ migrations: null });
  const url = new URL(stores.postgresUrl);
  const proxy = await openTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.hostname = "127.0.0.1"; url.port = String(proxy.port);
  const sql = createPostgres(url.href);
  const go = async () => { const t = performance.now(); try { await askPostgres(() => sql`select 1`); return ["ok", Math.round(performance.now() - t)]; } catch (e) { return [String((e as {cause?: unknown}).cause), Math.round(performance.now() - t)]; } };
  console.log(await go());
  proxy.cut();
  await proxy.close();
  const t = performance.now();
  for (let i = 0; performance.now() - t < 40000; i++) console.log(i, Math.round(performance.now() - t), await go());
  await sql.end({ timeout: 0 }); await stores.close();
}, 120000);
