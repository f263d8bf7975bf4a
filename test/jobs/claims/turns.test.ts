/** Work of which there is one of a kind: by one instance at a time. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { TURN_LEASE_MS } from "../../../src/jobs/claims/limits.ts";
import { takeTurn } from "../../../src/jobs/claims/turns.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { letPass } from "../../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let sql: TestStores["postgres"];
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  await sql`INSERT INTO job_turns (name, next_attempt_at) VALUES ('one', now()), ('two', now()), ('three', now())`;
}, 60_000);
afterAll(() => stores.close());

const done = async (): Promise<string> => "done";

test("a turn is one holder's until its work ends, well or not; another turn is somebody else's", async () => {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = takeTurn(sql, "one", async () => {
    begun.resolve();
    await gate.promise;
    throw new Error("the work failed");
  });
  await begun.promise;
  expect(await takeTurn(sql, "one", done)).toBeNull();
  expect(await takeTurn(sql, "two", done)).toBe("done");
  gate.resolve();
  await expect(first).rejects.toThrow("the work failed");
  expect(await takeTurn(sql, "one", done)).toBe("done");
});

test("the turn of an instance that died is taken over, and comes back to nobody by its end", async () => {
  const instance = createPostgres(stores.postgresUrl);
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lost = takeTurn(instance, "three", async () => {
    begun.resolve();
    await gate.promise;
  });
  await begun.promise;
  expect(await takeTurn(sql, "three", done)).toBeNull();
  await letPass(sql, "job_turns", TURN_LEASE_MS);
  const taken = await takeTurn(sql, "three", async () => {
    gate.resolve();
    await lost;
    return takeTurn(instance, "three", done);
  });
  expect(taken).toBeNull();
  expect(await takeTurn(sql, "three", done)).toBe("done");
  await instance.end();
});
