/** A data folder that was copied, whose server shares the log store with the original's. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import { startIngestInstance } from "../http/ledger/ingest-instance.ts";
import { makeOrganization } from "../http/ledger/thing-server.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

test("what the original and its copy are sent is all stored, though it lies at the same places of their logs", async () => {
  using folder = temporaryDirectory();
  const organizationId = await makeOrganization(stores.postgres);
  const [original, copy] = [join(folder.path, "original"), join(folder.path, "copy")];
  const start = (directory: string, instance: number) =>
    startIngestInstance(stores, { directory, organizationId, instance });
  const first = await start(original, 1);
  expect((await first.post("before", ["before"])).status).toBe(202);
  await first.die();
  cpSync(original, copy, { recursive: true });
  const both = [await start(original, 1), await start(copy, 2)];
  for (const [index, instance] of both.entries())
    expect((await instance.post(`key ${index}`, [`sent to ${index}`])).status).toBe(202);
  for (const instance of both) await instance.die();
  const result = await stores.clickhouse.query({
    query: "SELECT message FROM logs WHERE organization_id = {organizationId: UInt32} ORDER BY message",
    query_params: { organizationId },
    format: "JSONEachRow",
  });
  const messages = (await result.json<{ message: string }>()).map(({ message }) => message);
  expect(messages).toEqual(["before", "sent to 0", "sent to 1"]);
});
