/** Objectives of monitors, judged by what is stored: said when they are missed and when they are met again, once. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import fc from "fast-check";
import { Changes } from "../../../../src/changes/changes.ts";
import { SloWatch } from "../../../../src/domains/monitors/scheduling/slo-watch.ts";
import { createLogger } from "../../../../src/log.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { insertMonitors, insertOrganization } from "./monitor-fixture.ts";

const MINUTE_MS = 60_000;
const NOW_MS = Date.UTC(2026, 5, 1);
const DAY_MINUTES = 1_440;

let stores: TestStores;
let organizationId: number;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  await stores.postgres`UPDATE monitor_state SET confirmed = 'up', slo_breach_open = false`;
  organizationId = await insertOrganization(stores.postgres);
});

function openWatch(): SloWatch {
  const { postgres: sql } = stores;
  return new SloWatch({
    sql,
    changes: new Changes({ sql, now: () => NOW_MS }),
    log: createLogger("silent"),
  });
}

/** A stretch of time in minutes before now. */
interface Stretch {
  readonly from: number;
  readonly minutes: number;
}

interface Judged {
  /** Of the last day. */
  readonly targetBp: number;
  readonly down: readonly Stretch[];
  readonly maintenance: readonly Stretch[];
}

const timeAt = (minutesAgo: number): Date => new Date(NOW_MS - minutesAgo * MINUTE_MS);

/** A monitor that is down now, as far as anybody asks. */
async function insertJudged({ targetBp, down, maintenance }: Judged): Promise<number> {
  const { postgres: sql } = stores;
  const [id = 0] = await insertMonitors(sql, organizationId, [{ url: "x" }]);
  await sql`UPDATE monitors SET uptime_target_bp = ${targetBp}, uptime_window_days = 1 WHERE id = ${id}`;
  await sql`UPDATE monitor_state SET confirmed = 'down' WHERE monitor_id = ${id}`;
  for (const { from, minutes } of down)
    await sql`
      INSERT INTO monitor_periods (organization_id, monitor_id, status, started_at, ended_at)
      VALUES (${organizationId}, ${id}, 'down', ${timeAt(from)}, ${timeAt(from - minutes)})`;
  for (const { from, minutes } of maintenance)
    await sql`
      INSERT INTO maintenance_windows (organization_id, monitor_id, starts_at, ends_at, created_at, updated_at)
      VALUES (${organizationId}, ${id}, ${timeAt(from)}, ${timeAt(from - minutes)}, now(), now())`;
  return id;
}

async function judgeAll(watch = openWatch()): Promise<void> {
  while (await watch.workOnce());
}

async function saidOf(monitorId: number): Promise<string[]> {
  const rows = await stores.postgres<{ kind: string }[]>`
    SELECT kind FROM events WHERE subject = ${`slo:${monitorId}`} ORDER BY id`;
  return rows.map(({ kind }) => kind);
}

async function isOpen(monitorId: number): Promise<boolean> {
  const [row] = await stores.postgres<{ slo_breach_open: boolean }[]>`
    SELECT slo_breach_open FROM monitor_state WHERE monitor_id = ${monitorId}`;
  return row?.slo_breach_open === true;
}

const stretches = fc.array(
  fc.record({
    from: fc.integer({ min: 1, max: 2 * DAY_MINUTES }),
    minutes: fc.integer({ min: 1, max: 400 }),
  }),
  { maxLength: 4 },
);
/** One behind the other. */
const apart = stretches.map((given) => {
  const sorted = given.toSorted((a, b) => b.from - a.from);
  return sorted.flatMap(({ from, minutes }, index) => {
    const until = Math.max(from - minutes, sorted[index + 1]?.from ?? 0, 0);
    return from > until ? [{ from, minutes: from - until }] : [];
  });
});
const judged = fc.record({
  targetBp: fc.integer({ min: 1, max: 10_000 }),
  down: apart,
  maintenance: stretches,
});

test("an objective is missed when a count of every minute says so, of the window and outside of maintenance", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(judged, { minLength: 1, maxLength: 5 }), async (all) => {
      const ids: number[] = [];
      for (const monitor of all) ids.push(await insertJudged(monitor));
      await judgeAll();
      for (const [index, { targetBp, down, maintenance }] of all.entries()) {
        const lies = (ago: number, { from, minutes }: Stretch) => from >= ago && ago > from - minutes;
        let downMinutes = 0;
        for (let ago = DAY_MINUTES; ago > 0; ago -= 1)
          if (down.some((at) => lies(ago, at)) && !maintenance.some((at) => lies(ago, at))) downMinutes += 1;
        const isMissed = downMinutes * 10_000 > DAY_MINUTES * (10_000 - targetBp);
        const id = ids[index] ?? 0;
        expect([await isOpen(id), await saidOf(id)]).toEqual([isMissed, isMissed ? ["problem.raised"] : []]);
      }
    }),
    { numRuns: 15 },
  );
});

test("it is said once that it is missed and once that it is met again, by however many instances", async () => {
  const id = await insertJudged({ targetBp: 9_990, down: [{ from: 100, minutes: 90 }], maintenance: [] });
  const watches = [openWatch(), openWatch(), openWatch()];
  await Promise.all(watches.map(judgeAll));
  expect([await saidOf(id), await isOpen(id)]).toEqual([["problem.raised"], true]);
  // Announced afterwards, which takes the time out of the objective.
  await stores.postgres`
    INSERT INTO maintenance_windows (organization_id, starts_at, ends_at, created_at, updated_at)
    VALUES (${organizationId}, ${timeAt(100)}, ${timeAt(10)}, now(), now())`;
  await Promise.all(watches.map(judgeAll));
  await judgeAll();
  expect([await saidOf(id), await isOpen(id)]).toEqual([["problem.raised", "problem.cleared"], false]);
});

test("of a paused monitor nothing is judged, and those of many behind each other all are", async () => {
  const missed = { targetBp: 10_000, down: [{ from: 10, minutes: 5 }], maintenance: [] };
  const paused = await insertJudged(missed);
  await stores.postgres`UPDATE monitors SET paused = true WHERE id = ${paused}`;
  const { postgres: sql } = stores;
  const many = await insertMonitors(
    sql,
    organizationId,
    Array.from({ length: 300 }, () => ({ url: "x" })),
  );
  await sql`UPDATE monitors SET uptime_target_bp = 10000 WHERE id = ANY(${many}::bigint[])`;
  await sql`UPDATE monitor_state SET confirmed = 'down' WHERE monitor_id = ANY(${many}::bigint[])`;
  await sql`
    INSERT INTO monitor_periods (organization_id, monitor_id, status, started_at, ended_at)
    SELECT ${organizationId}, id, 'down', ${timeAt(10)}, ${timeAt(5)} FROM unnest(${many}::bigint[]) AS id`;
  await judgeAll();
  const [open] = await sql<{ count: string }[]>`SELECT count(*) FROM monitor_state WHERE slo_breach_open`;
  expect([open?.count, await isOpen(paused)]).toEqual(["300", false]);
});
