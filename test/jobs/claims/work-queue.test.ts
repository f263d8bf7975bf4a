/** Work that instances share by leases, whichever kind it is: each row is one holder's at a time, and none is lost. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Claimant } from "../../../src/jobs/claims/claimant.ts";
import { keepRenewed } from "../../../src/jobs/claims/keep-renewed.ts";
import type { Claim } from "../../../src/jobs/claims/leased-rows.ts";
import { WorkQueue } from "../../../src/jobs/claims/work-queue.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const HOUR_MS = 3_600_000;
const LEASE_MS = HOUR_MS / 2;
const ROWS = [1, 2, 3, 4];
const QUEUE = new WorkQueue({
  table: "work",
  key: "id",
  claim: "claim_id",
  due: "due_at",
  attempts: "attempts",
});

let stores: TestStores;
let sql: TestStores["postgres"];
/** Another instance's. */
let other: TestStores["postgres"];
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  other = createPostgres(stores.postgresUrl);
  await sql`
    CREATE TABLE work (
      id integer PRIMARY KEY, kind text NOT NULL DEFAULT 'wanted', due_at timestamptz NOT NULL,
      attempts integer NOT NULL DEFAULT 0, claim_id uuid
    )`;
});
afterAll(async () => {
  await other.end();
  await stores.close();
});
beforeEach(fill);

async function fill(): Promise<void> {
  await sql`TRUNCATE work`;
  await sql`INSERT INTO work (id, due_at) SELECT id, now() FROM unnest(${ROWS}::integer[]) AS id`;
}

test("what is put on now is due now, and what ends now is free, in every table of work and of leases", async () => {
  const due = await sql<{ table: string; digits: number }[]>`
    SELECT table_name AS table, datetime_precision AS digits FROM information_schema.columns
    WHERE table_schema = 'public' AND data_type = 'timestamp with time zone'
      AND column_name IN ('due_at', 'next_attempt_at', 'next_fetch_at', 'retry_at', 'settle_at',
                          'lease_until', 'leased_until', 'seen_until')`;
  expect(due.map(({ table }) => table)).toEqual(expect.arrayContaining(["live_rules", "monitor_shards"]));
  // With fewer digits than the clock has, half of all times are rounded to one that is still to come.
  expect(due.filter(({ digits }) => digits < 6)).toEqual([]);
});

interface Taken extends Claim {
  readonly id: number;
  readonly attempts: number;
}

async function take(from = sql, max = ROWS.length, claim?: string): Promise<Taken[]> {
  const which = {
    where: from`kind = 'wanted'`,
    order: from`due_at, id`,
    max,
    leaseMs: LEASE_MS,
    columns: from`id, attempts`,
  };
  const rows = await QUEUE.take<{ id: number; attempts: number }>(from, which, claim);
  return rows.map((row) => ({ ...row, key: { id: row.id } }));
}

async function takeOne(from = sql): Promise<Taken> {
  const [taken] = await take(from, 1);
  if (taken === undefined) throw new Error("nothing was due");
  return taken;
}

const idsOf = (taken: readonly Taken[]): number[] => taken.map(({ id }) => id);

async function letPass(ms: number): Promise<void> {
  await sql`UPDATE work SET due_at = due_at - ${ms}::double precision * interval '1 millisecond'`;
}

interface WorkRow {
  readonly id: number;
  readonly attempts: number;
  readonly isHeld: boolean;
  readonly isDue: boolean;
}

const rows = (): Promise<WorkRow[]> => sql<WorkRow[]>`
  SELECT id, attempts, claim_id IS NOT NULL AS "isHeld", due_at <= now() AS "isDue" FROM work ORDER BY id`;

describe("what is due", () => {
  test("is taken in its order, as much as is asked for, and what is unwanted or not due stays", async () => {
    await sql`UPDATE work SET kind = 'other' WHERE id = 1`;
    await sql`UPDATE work SET due_at = now() + interval '1 hour' WHERE id = 2`;
    await sql`UPDATE work SET due_at = now() - interval '1 hour' WHERE id = 4`;
    await sql`INSERT INTO work (id, due_at) VALUES (5, now())`;
    expect(idsOf(await take(sql, 1))).toEqual([4]);
    expect(idsOf(await take())).toEqual([3, 5]);
    expect(await take()).toEqual([]);
  });

  test("is each taken by one of many that look at the same moment, and none takes more than it may", async () => {
    await sql`INSERT INTO work (id, due_at) SELECT id, now() FROM generate_series(5, 60) AS id`;
    const taken = await Promise.all(Array.from({ length: 10 }, (_, i) => take(i % 2 ? sql : other, 5)));
    const ids = [...taken.flat(), ...(await take(sql, 60))].map(({ id }) => id);
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
    expect(Math.max(...taken.map((own) => own.length))).toBe(5);
  });

  test("is passed over while another one is taking it", async () => {
    const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const taking = other.begin(async (tx) => {
      await tx`SELECT 1 FROM work WHERE id = 1 FOR UPDATE`;
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    const impatient = await sql.reserve();
    await impatient`SET lock_timeout = '2s'`;
    const taken = await take(impatient).finally(held.resolve);
    expect(idsOf(taken)).toEqual([2, 3, 4]);
    await impatient`RESET lock_timeout`;
    impatient.release();
    await taking;
    expect(idsOf(await take())).toEqual([1]);
  });
});

describe("a holder", () => {
  test("keeps its row until the lease is over, and is then followed by another, which counts as a further attempt", async () => {
    const dead = await takeOne();
    await letPass(LEASE_MS / 2);
    expect(idsOf(await take(other))).toEqual([2, 3, 4]);
    await letPass(LEASE_MS / 2);
    const next = await takeOne(other);
    expect([next.id, next.attempts, next.claim === dead.claim]).toEqual([1, 2, false]);
  });

  test("that says that it lives keeps its row for another lease", async () => {
    const taken = await takeOne();
    await letPass(LEASE_MS / 2);
    expect(await QUEUE.renew(sql, taken, LEASE_MS)).toBe(true);
    await letPass(LEASE_MS / 2);
    expect(idsOf(await take(other))).toEqual([2, 3, 4]);
  });

  test("of several rows renews all at once, and only its own", async () => {
    const [first] = await take(sql, 2);
    await take(other);
    await letPass(LEASE_MS);
    expect(await QUEUE.renew(sql, { claim: first?.claim ?? "", key: {} }, LEASE_MS)).toBe(true);
    expect((await rows()).map(({ isDue }) => isDue)).toEqual([false, false, true, true]);
  });

  test("whose lease is over and whose row nobody took may still complete it", async () => {
    const taken = await takeOne();
    await letPass(2 * LEASE_MS);
    expect(await QUEUE.remove(sql, taken)).toBe(true);
    expect(idsOf(await take(other))).toEqual([2, 3, 4]);
  });

  test("that puts its row off frees it for later, and one that gives it back for now, uncounted", async () => {
    const [late, untried] = await take(sql, 2);
    if (late === undefined || untried === undefined) throw new Error("two rows were due");
    expect(await QUEUE.postpone(sql, late, HOUR_MS)).toBe(true);
    expect(await QUEUE.giveBack(sql, untried)).toBe(true);
    expect((await rows()).slice(0, 2)).toEqual([
      { id: 1, attempts: 1, isHeld: false, isDue: false },
      { id: 2, attempts: 0, isHeld: false, isDue: true },
    ]);
    await letPass(HOUR_MS);
    expect((await take(other)).map(({ id, attempts }) => [id, attempts])).toEqual([
      [1, 2],
      [2, 1],
      [3, 1],
      [4, 1],
    ]);
  });
});

describe("a holder that has lost its row", () => {
  /** What it may still do. */
  const LATE: Record<string, (claim: Claim) => Promise<boolean>> = {
    "says that it lives": (claim) => QUEUE.renew(sql, claim, LEASE_MS),
    "removes it": (claim) => QUEUE.remove(sql, claim),
    "puts it off": (claim) => QUEUE.postpone(sql, claim, LEASE_MS),
    "gives it back": (claim) => QUEUE.giveBack(sql, claim),
    "is done with it": (claim) => QUEUE.release(sql, claim),
  };
  /** How it lost it. */
  const LOST: Record<string, () => Promise<unknown>> = {
    "another one has it": async () => {
      await letPass(LEASE_MS);
      return takeOne(other);
    },
    // The count of attempts is then what it was.
    "another one had it and gave it back": async () => {
      await letPass(LEASE_MS);
      return QUEUE.giveBack(other, await takeOne(other));
    },
    "another one has it after it was put off": async () => {
      await letPass(LEASE_MS);
      await QUEUE.postpone(other, await takeOne(other), 0);
      return takeOne(other);
    },
  };
  for (const [how, lose] of Object.entries(LOST))
    for (const [what, act] of Object.entries(LATE))
      test(`and ${what} changes nothing and hears of it: ${how}`, async () => {
        await sql`DELETE FROM work WHERE id > 1`;
        const lost = await takeOne();
        await lose();
        const before = await sql`SELECT * FROM work`;
        expect(await act(lost)).toBe(false);
        expect(await sql`SELECT * FROM work`).toEqual(before);
      });

  test("undoes in its transaction what it did for it", async () => {
    await sql`DELETE FROM work WHERE id > 1`;
    const lost = await takeOne();
    await letPass(LEASE_MS);
    await takeOne(other);
    const done = sql.begin(async (tx) => {
      await tx`INSERT INTO work (id, due_at) VALUES (99, now())`;
      if (!(await QUEUE.remove(tx, lost))) throw new Error("lost");
    });
    await expect(done).rejects.toThrow("lost");
    expect((await rows()).map(({ id }) => id)).toEqual([1]);
  });
});

describe("a server that comes back", () => {
  const PLACE = "this directory";
  const takeBack = (place: string | null): Promise<number> =>
    QUEUE.takeBack(sql, new Claimant(place), sql`kind = 'wanted'`);

  test("has what it had when it died, at once, and nobody else has it from then on", async () => {
    const [died] = await take(sql, 1, new Claimant(PLACE).next());
    await take(other, 1, new Claimant("another directory").next());
    await take(other, 1, new Claimant(null).next());
    await take(other, 1);
    expect(await takeBack(PLACE)).toBe(1);
    const next = await take(sql, ROWS.length, new Claimant(PLACE).next());
    expect(next.map(({ id, attempts }) => [id, attempts])).toEqual([[1, 2]]);
    expect(await QUEUE.remove(other, died ?? next[0] ?? { claim: "", key: {} })).toBe(false);
  });

  test("leaves what others have, what it may not take, and everything where nothing tells who it is", async () => {
    await take(other, 1, new Claimant("another directory").next());
    await take(other, 1, new Claimant(null).next());
    await take(sql, 1, new Claimant(PLACE).next());
    await sql`UPDATE work SET kind = 'other' WHERE id = 3`;
    for (const place of [PLACE, null]) expect(await takeBack(place)).toBe(0);
    expect((await rows()).map(({ isHeld }) => isHeld)).toEqual([true, true, true, false]);
  });

  test("waits for the lease of what it has died of a second time, so that not every start ends with it", async () => {
    await take(sql, 1, new Claimant(PLACE).next());
    expect(await takeBack(PLACE)).toBe(1);
    expect(idsOf(await take(sql, 1, new Claimant(PLACE).next()))).toEqual([2]);
    const again = await take(sql, ROWS.length, new Claimant(PLACE).next());
    expect(again.find(({ id }) => id === 1)?.attempts).toBe(2);
    await sql`DELETE FROM work WHERE id > 1`;
    expect(await takeBack(PLACE)).toBe(0);
    await letPass(LEASE_MS);
    expect(idsOf(await take(other))).toEqual([1]);
  });

  test("makes no claim twice, and all of them within the bounds of its directory", () => {
    const claimant = new Claimant(PLACE);
    const claims = Array.from({ length: 1000 }, () => claimant.next());
    expect(new Set(claims).size).toBe(claims.length);
    const { first, last } = new Claimant(PLACE).bounds;
    expect(claims.every((claim) => first <= claim && claim <= last)).toBe(true);
    expect(claims.every((claim) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(claim))).toBe(true);
  });
});

test("a renewal that fails is made up for, and none comes after the end", async () => {
  const taken = await takeOne();
  let tries = 0;
  const renewal = keepRenewed(async () => {
    tries += 1;
    if (tries === 1) throw new Error("Postgres is away");
    return QUEUE.renew(sql, taken, LEASE_MS);
  }, 5);
  await letPass(LEASE_MS);
  await eventually("it is renewed", async () => (await rows())[0]?.isDue === false);
  renewal[Symbol.dispose]();
  const after = tries;
  await Bun.sleep(50);
  expect(tries).toBe(after);
});

/** A row as it should be. */
interface Model {
  holder: string | null;
  dueInMs: number;
  attempts: number;
}

const ACTS = ["take", "renew", "remove", "postpone", "giveBack", "pass"] as const;

test("whatever holders do in whichever order, a row is the last one's that took it", async () => {
  const act = fc.record({
    what: fc.constantFrom(...ACTS),
    /** Which claim that was ever taken acts; the newest counts as 0. */
    who: fc.nat({ max: 3 }),
    hours: fc.integer({ min: 0, max: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 25 }), async (acts) => {
      await fill();
      const model = new Map(
        ROWS.map((id): [number, Model] => [id, { holder: null, dueInMs: 0, attempts: 0 }]),
      );
      const claims: Taken[] = [];
      const free = (row: Model, dueInMs: number, uncounted: number): void =>
        void Object.assign(row, { holder: null, dueInMs, attempts: row.attempts - uncounted });
      for (const { what, who, hours } of acts) {
        // Times end half an hour from where others do, so that how long the test takes does not matter.
        const ms = hours * HOUR_MS + LEASE_MS;
        if (what === "pass") {
          await letPass(hours * HOUR_MS);
          for (const row of model.values()) row.dueInMs -= hours * HOUR_MS;
          continue;
        }
        if (what === "take") {
          const [taken] = await take(sql, 1);
          const isDue = [...model.values()].some(({ dueInMs }) => dueInMs <= 0);
          expect(taken !== undefined).toBe(isDue);
          if (taken === undefined) continue;
          const row = model.get(taken.id);
          expect(row?.dueInMs).toBeLessThanOrEqual(0);
          Object.assign(row ?? {}, { holder: taken.claim, dueInMs: LEASE_MS, attempts: taken.attempts });
          claims.unshift(taken);
          continue;
        }
        const claim = claims[who];
        if (claim === undefined) continue;
        const row = model.get(claim.id);
        const isHolder = row?.holder === claim.claim;
        if (what === "renew") expect(await QUEUE.renew(sql, claim, ms)).toBe(isHolder);
        else if (what === "postpone") expect(await QUEUE.postpone(sql, claim, ms)).toBe(isHolder);
        else expect(await QUEUE[what](sql, claim)).toBe(isHolder);
        if (row === undefined || !isHolder) continue;
        if (what === "renew") row.dueInMs = ms;
        else if (what === "postpone") free(row, ms, 0);
        else if (what === "giveBack") free(row, 0, 1);
        else model.delete(claim.id);
      }
      const left = await sql<{ id: number; holder: string | null; attempts: number }[]>`
        SELECT id, claim_id AS holder, attempts FROM work ORDER BY id`;
      expect([...left]).toEqual([...model].map(([id, { holder, attempts }]) => ({ id, holder, attempts })));
    }),
    { numRuns: 40 },
  );
});
