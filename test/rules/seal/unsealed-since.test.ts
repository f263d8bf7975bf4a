/** The archive asks what nobody has looked through yet. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { unsealedSince } from "../../../src/rules/seal/unsealed-since.ts";
import {
  type AlertServer,
  alertServer,
  makeOrganization,
  NEVER,
} from "../../domains/log-alerts/alert-server.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const DAY_MS = 86_400_000;

let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

test("what is stored and not sealed is told for as long as it is, and a stream that is sealed to its end holds up nothing", async () => {
  const own = await makeOrganization(stores);
  const made = { name: "r", query: "failed" };
  expect((await server.send(own, "POST", "/api/v1/log-alerts", made)).status).toBe(201);
  const asked = (laterMs: number) =>
    unsealedSince(
      { sql: stores.postgres, endpoint: stores.clickhouseEndpoint },
      server.clock.nowMs + laterMs,
      NEVER,
    );
  await server.store(own, { message: "failed", atMs: server.clock.nowMs });
  await server.seal();
  // As of a server that died and whose stream nobody has to go on with.
  expect(await asked(3 * DAY_MS)).toBeNull();
  const sealedMs = server.clock.nowMs;
  server.clock.nowMs += 60_000;
  await server.store(own, { message: "failed", atMs: server.clock.nowMs });
  expect(await asked(0)).toBeNull();
  expect(await asked(3 * DAY_MS)).toBe(sealedMs);
  await server.seal();
  expect(await asked(3 * DAY_MS)).toBeNull();
});
