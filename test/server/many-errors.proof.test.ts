/** An hour of errors of which none is like another, through a real server: what is kept is bounded, and what is not is said. */
import { expect, test } from "bun:test";
import { GROUPS_MAX_OF_HOUR } from "../../src/domains/log-errors/finding/limits.ts";
import { isOfFault, unlikeError } from "../domains/log-errors/many-errors.ts";
import { eventually } from "../harness/eventually.ts";
import { proofRounds } from "../harness/proof.ts";
import { makeToken } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";

/** More than one seal tells apart. */
const ERRORS = proofRounds({ sample: 4_000, whole: 100_000 });
const TOGETHER = 500;
const PAGE = 200;
const HOUR_MS = 3_600_000;

test("errors that are all different make so many groups an hour, the rest is counted as other, and a fault among them is found", async () => {
  const server = await startSuiteServer();
  try {
    const headers = {
      authorization: `Bearer ${await makeToken(server.url)}`,
      "content-type": "application/json",
    };
    const list = async (query: string) =>
      JSON.parse(await (await fetch(`${server.url}/api/v1/log-errors?${query}`, { headers })).text());
    const beganMs = Date.now();
    for (let from = 0; from < ERRORS; from += TOGETHER) {
      const entries = Array.from({ length: TOGETHER }, (_, i) => unlikeError(from + i, ERRORS));
      const answer = await fetch(`${server.url}/api/v1/logs/ingest`, {
        ...{ method: "POST", headers, body: JSON.stringify(entries) },
      });
      expect(answer.status).toBe(202);
    }
    const groups = async (): Promise<{ title: string; count: number }[]> => {
      const found = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page = await list(`status=all&limit=${PAGE}${cursor === "" ? "" : `&cursor=${cursor}`}`);
        found.push(...page.items);
        cursor = page.nextCursor;
      }
      return found;
    };
    const counted = async () => {
      const { other } = await list("limit=1");
      const found = await groups();
      return { found, other, all: found.reduce((sum, { count }) => sum + count, other.count) };
    };
    await eventually("every error is counted", async () => (await counted()).all >= ERRORS);
    const { found, other, all } = await counted();
    expect(all).toBe(ERRORS);
    const hours = Math.floor(Date.now() / HOUR_MS) - Math.floor(beganMs / HOUR_MS) + 1;
    expect(found.length).toBeLessThanOrEqual(hours * GROUPS_MAX_OF_HOUR);
    expect(other.count).toBeGreaterThanOrEqual(ERRORS - hours * GROUPS_MAX_OF_HOUR - faultsIn(ERRORS));
    expect(Date.parse(other.lastHour)).toBeGreaterThanOrEqual(Math.floor(beganMs / HOUR_MS) * HOUR_MS);
    const fault = found.filter(({ title }) => title.startsWith("CardError"));
    expect(fault).toHaveLength(1);
    // Of a fault among others some may be counted with these before it is known.
    expect(fault[0]?.count).toBeGreaterThanOrEqual(faultsIn(ERRORS) / 2);
  } finally {
    await server.stop();
  }
}, 600_000);

function faultsIn(errors: number): number {
  return Array.from({ length: errors }, (_, n) => isOfFault(n, errors)).filter(Boolean).length;
}
