/**
 * The promise of ingest under kill -9: of the server, of its ClickHouse, and of both, at random moments of a running
 * ingest, round after round on one data directory.
 */
import { expect, test } from "bun:test";
import { createLogger } from "../../src/log.ts";
import { openStores } from "../../src/storage/open.ts";
import { eventually } from "../harness/eventually.ts";
import { IngestHistory } from "../harness/ingest-history.ts";
import { makeSource, NATIVE_WIRE, OTLP_WIRE, sourceWire } from "../harness/ingest-wires.ts";
import { proofRounds } from "../harness/proof.ts";
import {
  engineProcess,
  isReady,
  makeToken,
  type ServerProcess,
  startServer,
} from "../harness/server-process.ts";
import { storedMessages } from "../harness/stored-messages.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

/** Each victim twice at least. */
const ROUNDS = proofRounds({ sample: 3, whole: 20 });
/** One client each. */
const WIRES = [NATIVE_WIRE, OTLP_WIRE, sourceWire("killed"), NATIVE_WIRE];
const VICTIMS = ["server", "clickhouse", "both"] as const;

test("every acknowledged entry, native, OTLP or of a source, is found exactly once after rounds of kill -9", async () => {
  using directory = temporaryDirectory();
  let server = await startServer({ dataDirectory: directory.path });
  const { port } = server;
  const token = await makeToken(server.url);
  const history = new IngestHistory();
  await makeSource(server.url, token, "killed");
  history.start(WIRES.length, () => ({ url: server.url, token }), { wires: WIRES });
  for (let round = 0; round < ROUNDS; round++) {
    const before = history.acknowledged;
    await eventually("entries are being acknowledged", () => history.acknowledged > before + 100);
    await Bun.sleep(Math.random() * 700);
    const victim = VICTIMS[round % VICTIMS.length];
    killEngine(server, victim !== "server");
    if (victim === "clickhouse") {
      await eventually("ClickHouse is back", () => isReady(server.url));
    } else {
      server.kill("SIGKILL");
      await server.exited;
      server = await startServer({ dataDirectory: directory.path, port });
    }
  }
  await history.stop();
  expect(await server.stop()).toBe(0);
  const stores = await openStores(
    { dataDirectory: directory.path, clickhouseUrl: null, databaseUrl: null, redisUrl: null },
    createLogger("silent"),
  );
  const stored = await storedMessages(stores.clickhouse);
  await stores.close();
  expect(history.acknowledged).toBeGreaterThan(ROUNDS * 100);
  expect(history.violations(stored).slice(0, 5)).toEqual([]);
  expect([...history.statuses.keys()].filter((status) => ![0, 200, 202, 503].includes(status))).toEqual([]);
});

function killEngine(server: ServerProcess, wanted: boolean): void {
  const pid = wanted ? engineProcess(server.pid, "clickhouse") : null;
  if (pid !== null) process.kill(pid, "SIGKILL");
}
