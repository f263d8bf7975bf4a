import { Type } from "typebox";
import { Value } from "typebox/value";
import { makeToken, startServer } from "../../test/harness/server-process.ts";
import { temporaryDirectory } from "../../test/harness/temporary-directory.ts";

const TICK_MS = 20;
const Opened = Type.Object({ type: Type.Literal("incident.opened"), timestamp: Type.String() });

/**
 * For each of some monitors that fail, the milliseconds from when that was confirmed, by the clock of the server, until a
 * webhook has heard of it: through one whole server, every hand-over on the way included. Takes as long as the monitors'
 * interval, half a minute, for they are spread over it.
 */
export async function firstNotices(
  monitors: number,
  stores: { readonly CLICKHOUSE_URL: string; readonly DATABASE_URL: string },
): Promise<number[]> {
  using directory = temporaryDirectory();
  const waitsMs: number[] = [];
  const hook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const told: unknown = JSON.parse(await request.text());
      if (Value.Check(Opened, told)) waitsMs.push(Date.now() - Date.parse(told.timestamp));
      return new Response(null, { status: 204 });
    },
  });
  const failing = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(null, { status: 500 }),
  });
  const server = await startServer({
    dataDirectory: directory.path,
    env: { ...stores, OUTBOUND_ALLOW: "127.0.0.1" },
  });
  const token = await makeToken(server.url);
  const send = async (method: string, path: string, json: object): Promise<void> => {
    const answer = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(json),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  };
  await send("PUT", "/me/alert-channels", { alertWebhookUrl: `http://127.0.0.1:${hook.port}/` });
  for (let nth = 0; nth < monitors; nth += 1)
    await send("POST", "/monitors", {
      ...{ name: `shop ${nth}`, url: `http://127.0.0.1:${failing.port}/`, type: "http" },
      ...{ intervalSec: 30, timeoutMs: 5000, alertThreshold: 1 },
    });
  while (waitsMs.length < monitors) await Bun.sleep(TICK_MS);
  await server.stop();
  for (const each of [hook, failing]) void each.stop(true);
  return waitsMs;
}
