/** Work of which there is one of a kind: by one instance at a time. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Claimant } from "../../../src/jobs/claims/claimant.ts";
import { TURN_LEASE_MS } from "../../../src/jobs/claims/limits.ts";
import { takeTurn, takeTurnBack } from "../../../src/jobs/claims/turns.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { letPass } from "../../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let sql: TestStores["postgres"];
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  await sql`INSERT INTO job_turns (name, next_attempt_at) VALUES ('one', now()), ('two', now()), ('three', now()), ('four', now())`;
});
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

test("an instance that comes back has its turn at once, again and again as long as it is well in between", async () => {
  const back = new Claimant("this directory");
  for (let death = 0; death < 3; death += 1) {
    const dead = createPostgres(stores.postgresUrl);
    const begun = Promise.withResolvers<void>();
    const hang = (): Promise<never> => {
      begun.resolve();
      return Promise.withResolvers<never>().promise;
    };
    void takeTurn(dead, "four", hang, back);
    await begun.promise;
    await dead.end({ timeout: 0 });
    await takeTurnBack(sql, "four", new Claimant(null));
    expect(await takeTurn(sql, "four", done)).toBeNull();
    await takeTurnBack(sql, "four", back);
    expect(await takeTurn(sql, "four", done, back)).toBe("done");
  }
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
