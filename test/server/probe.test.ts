import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { openTcpProxy, type TcpProxy } from "../harness/tcp-proxy.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

/** `obs probe` as another region: over connections that go out only, which are slow and break. */

const CLI = join(import.meta.dir, "../../clients/cli/main.ts");
const PROBE_TOKEN = "p".repeat(40);
const BEHIND_TOKEN = "b".repeat(40);

let stores: TestStores;
let directory: TemporaryDirectory;
let server: ServerProcess;
let proxy: TcpProxy;
let token: string;
let target: ReturnType<typeof Bun.serve>;
let probe: Bun.Subprocess;
let monitorId: number;
beforeAll(async () => {
  stores = await openTestStores();
  target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("welcome") });
  directory = temporaryDirectory();
  server = await startServer({
    dataDirectory: directory.path,
    env: {
      DATABASE_URL: stores.postgresUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      OUTBOUND_ALLOW: "127.0.0.1",
      PROBE_TOKENS: `weur=${PROBE_TOKEN},eeur=${BEHIND_TOKEN}`,
    },
  });
  token = await makeToken(server.url);
  proxy = await openTcpProxy({ host: "127.0.0.1", port: server.port });
  probe = Bun.spawn(
    [
      process.execPath,
      CLI,
      "probe",
      ...["--url", `http://127.0.0.1:${proxy.port}`, "--region", "weur", "--token", PROBE_TOKEN],
      ...["--allow", "127.0.0.1"],
    ],
    { stdout: "ignore", stderr: "ignore" },
  );
  const made = await fetch(`${server.url}/api/v1/monitors`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      name: "Shop",
      url: `http://127.0.0.1:${target.port}/`,
      type: "http",
      intervalSec: 30,
      timeoutMs: 1000,
      regions: ["local", "weur"],
    }),
  });
  const body: { id: number } = JSON.parse(await made.text());
  monitorId = body.id;
});
afterAll(async () => {
  probe.kill("SIGTERM");
  await probe.exited;
  await server.stop();
  await proxy.close();
  await target.stop(true);
  await stores.close();
  directory[Symbol.dispose]();
});

interface RegionSlot {
  readonly slot: string;
  readonly regions: string[];
  readonly copies: number;
}

async function slots(): Promise<RegionSlot[]> {
  const answer = await stores.clickhouse.query({
    query: `SELECT toString(slot) AS slot, groupUniqArray(region) AS regions, toUInt32(max(copies)) AS copies
            FROM (SELECT slot, region, count() AS copies FROM monitor_checks
                  WHERE monitor_id = {id:UInt64} AND status != 'missed' GROUP BY slot, region)
            GROUP BY slot ORDER BY slot`,
    query_params: { id: monitorId },
    format: "JSONEachRow",
  });
  return answer.json<RegionSlot>();
}

function areBoth({ regions }: RegionSlot): boolean {
  return regions.toSorted().join() === "local,weur";
}

test("both regions check the same slots, from the first one on", async () => {
  const [first] = await eventually("the first slot", async () => {
    const all = await slots();
    return all.length > 0 && all;
  });
  expect(first !== undefined && areBoth(first)).toBe(true);
});

test("what a probe found while it was cut off is handed in later, and nothing of it twice", async () => {
  await stores.postgres`UPDATE monitors SET interval_sec = 2, updated_at = now() WHERE id = ${monitorId}`;
  proxy.delay(50);
  const count = async (): Promise<number> => (await slots()).filter(areBoth).length;
  const before = await count();
  await eventually("some slots of both regions", async () => (await count()) >= before + 2);
  proxy.cut();
  const cutAt = (await slots()).length;
  await eventually("slots of this region alone", async () => (await slots()).length >= cutAt + 4);
  proxy.restore();
  await eventually("the slots in between, from both", async () => {
    const all = (await slots()).slice(cutAt - 1, cutAt + 3);
    return all.length === 4 && all.every(areBoth);
  });
  expect(Math.max(...(await slots()).map(({ copies }) => copies))).toBe(1);
  const [state] =
    await stores.postgres`SELECT confirmed, told FROM monitor_state WHERE monitor_id = ${monitorId}`;
  expect(state).toEqual({ confirmed: "up", told: "up" });
});

/** The probe of a third region, in a network where nothing is but itself and a way to the server. */
const BEHIND = `
  ip link set lo up || exit 1
  port=$(mktemp)
  tail -f /dev/null | "$BUN" "$RELAY" "$WAY_OUT" > "$port" &
  until [ -s "$port" ]; do sleep 0.05; done
  exec "$BUN" "$CLI" probe --url "http://127.0.0.1:$(cat "$port")" --region eeur --token "$TOKEN" --allow 127.0.0.1`;
/** A network and a tree of processes of its own: all of it ends with the shell. */
const OWN_NETWORK = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"];
const hasNetworks =
  Bun.which("unshare") !== null && Bun.spawnSync([...OWN_NETWORK, "ip link set lo up"]).success;

test.skipIf(!hasNetworks)(
  "a probe in a network that nobody reaches sees what is there, and one that disagrees alone is no outage",
  async () => {
    const wayOut = join(directory.path, "way-out.sock");
    const relay = createServer((incoming) => {
      const outgoing = connect(server.port, "127.0.0.1");
      for (const [from, to] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
        from.pipe(to);
      }
    });
    await new Promise<void>((resolve) => relay.listen(wayOut, resolve));
    const behind = Bun.spawn([...OWN_NETWORK, BEHIND], {
      env: {
        ...process.env,
        ...{ BUN: process.execPath, RELAY: join(import.meta.dir, "probe-behind-socket.ts"), CLI },
        ...{ WAY_OUT: wayOut, TOKEN: BEHIND_TOKEN },
      },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    try {
      await stores.postgres`
        UPDATE monitors SET regions = ${["local", "weur", "eeur"]}, updated_at = now() WHERE id = ${monitorId}`;
      await eventually("its region reports that nothing listens in its network", async () => {
        const answer = await stores.clickhouse.query({
          query: `SELECT DISTINCT region, status, error FROM monitor_checks WHERE region = 'eeur'`,
          format: "JSONEachRow",
        });
        return Bun.deepEquals(await answer.json(), [
          { region: "eeur", status: "down", error: "connection_refused" },
        ]);
      });
      const state = () =>
        stores.postgres`SELECT last_status, told FROM monitor_state WHERE monitor_id = ${monitorId}`;
      await eventually("the three together are degraded", async () => {
        const [row] = await state();
        return row?.last_status === "degraded";
      });
      const [row] = await state();
      expect(row).toEqual({ last_status: "degraded", told: "up" });
    } finally {
      behind.kill("SIGKILL");
      await behind.exited;
      await stores.postgres`
        UPDATE monitors SET regions = ${["local", "weur"]}, updated_at = now() WHERE id = ${monitorId}`;
      await new Promise((resolve) => relay.close(resolve));
    }
  },
);

test("nobody is a probe without a token of a region, and a result of a monitor that is not checked there is none", async () => {
  const post = (credential: string, results: unknown) =>
    fetch(`${server.url}/api/v1/probes/results`, {
      method: "POST",
      headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
      body: JSON.stringify({ results }),
    });
  expect((await post("q".repeat(40), [])).status).toBe(401);
  expect((await post(token, [])).status).toBe(401);
  const feed = await fetch(`${server.url}/api/v1/probes/assignments`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(feed.status).toBe(401);
  const outcome = {
    status: "down",
    error: "timeout",
    durationMs: 1,
    phases: { dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0 },
    statusCode: null,
    certificateNotAfter: null,
    failedStep: null,
  };
  const result = { monitorId: 999_999, slotMs: Date.now(), startedAtMs: Date.now(), lateMs: 1, outcome };
  const answer = await post(PROBE_TOKEN, [result]);
  expect(await answer.json()).toEqual({ taken: 0 });
});
