/** Many loops that are told by one question when there is something to do. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Sql } from "postgres";
import { whenDue } from "../../src/jobs/due-watch.ts";
import { createLogger, type Logger } from "../../src/log.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const NEVER_MS = 3_600_000;

let stores: TestStores;
let sql: Sql;
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  await sql`CREATE TABLE due_things (name text PRIMARY KEY)`;
});
afterAll(() => stores.close());

/** Somebody who is told while a thing is there, and how often. */
function waiting(name: string, everyMs: number, over: Sql = sql, log: Logger = createLogger("silent")) {
  const told = { times: 0 };
  const wake = (): void => {
    told.times += 1;
  };
  const isDue = (asked: Sql) => asked`EXISTS (SELECT 1 FROM due_things WHERE name = ${name})`;
  return { told, watched: whenDue(over, isDue)({ wake, everyMs, log }) };
}

test("whoever has something to do is told of it, as often as it asked for while there is something, and nobody else is", async () => {
  const [often, once, other] = [waiting("a", 1), waiting("a", NEVER_MS), waiting("b", 1)];
  const rounds = waiting("c", 1);
  await sql`INSERT INTO due_things VALUES ('c')`;
  await eventually("the watch goes round", () => rounds.told.times >= 2);
  expect([often.told.times, once.told.times, other.told.times]).toEqual([0, 0, 0]);
  await sql`INSERT INTO due_things VALUES ('a')`;
  await eventually("they are told", () => often.told.times >= 3);
  expect(once.told.times).toBe(1);
  await sql`DELETE FROM due_things WHERE name = 'a'`;
  await sql`INSERT INTO due_things VALUES ('b')`;
  await eventually("the other is told", () => other.told.times >= 2);
  const before = often.told.times;
  other.watched[Symbol.dispose]();
  const [otherBefore, roundsBefore] = [other.told.times, rounds.told.times];
  await eventually("the watch goes on", () => rounds.told.times >= roundsBefore + 2);
  expect([often.told.times, other.told.times]).toEqual([before, otherBefore]);
  for (const { watched } of [often, once, rounds]) watched[Symbol.dispose]();
});

test("where the question fails that is said once and all are told, and once it is answered again who has something to do", async () => {
  const own = createPostgres(stores.postgresUrl);
  const lines: string[] = [];
  const log = createLogger("error", { write: (line) => lines.push(line) });
  const [idle, busy] = [waiting("nothing", 1, own, log), waiting("d", 1, own, log)];
  await sql`ALTER TABLE due_things RENAME TO gone`;
  await eventually("both are told again and again", () => idle.told.times > 1 && busy.told.times > 1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("cannot be asked what is due");
  await sql`ALTER TABLE gone RENAME TO due_things`;
  await sql`INSERT INTO due_things VALUES ('d')`;
  let [idleBefore, busyBefore] = [-1, -1];
  await eventually("only one is told again", () => {
    const isOnlyOne = idle.told.times === idleBefore && busy.told.times > busyBefore;
    [idleBefore, busyBefore] = [idle.told.times, busy.told.times];
    return isOnlyOne && busyBefore > 0;
  });
  await sql`ALTER TABLE due_things RENAME TO gone`;
  await eventually("it is said again when it fails again", () => lines.length === 2);
  await sql`ALTER TABLE gone RENAME TO due_things`;
  for (const { watched } of [idle, busy]) watched[Symbol.dispose]();
  await own.end();
});
