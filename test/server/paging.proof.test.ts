/** Paging through a table that grows meanwhile, over HTTP, with the real program. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { proofRounds } from "../harness/proof.ts";
import { ingestEntries, makeToken, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const ROWS = proofRounds({ sample: 50_000, whole: 1_000_000 });
const PAGE = 1000;
/** The first organization of a new database. */
const ORGANIZATION_ID = 1;

let stores: TestStores;

beforeAll(async () => {
  stores = await openTestStores();
});

afterAll(() => stores.close());

/** Entries of the last hour, many of them at the same instant, all received before now. */
async function fillTable(): Promise<void> {
  await stores.clickhouse.command({
    query: `INSERT INTO logs (organization_id, ts, id, received_at, message)
            SELECT ${ORGANIZATION_ID}, now64(9) - toIntervalMillisecond(intDiv(number, 3) * 10),
                   bitShiftLeft(toUInt64(toUnixTimestamp64Milli(now64(3)) - 1577836800000 - 3600000), 22) + number * 1024,
                   now64(3), concat('row ', toString(number))
            FROM numbers(${ROWS})`,
    clickhouse_settings: { insert_deduplication_token: crypto.randomUUID() },
  });
}

interface Page {
  entries: { message: string }[];
  nextCursor: string | null;
}

test("all rows of a large table come exactly once while new, old and future entries arrive", async () => {
  using directory = temporaryDirectory();
  const server = await startServer({
    dataDirectory: directory.path,
    env: { CLICKHOUSE_URL: stores.clickhouseUrl, DATABASE_URL: stores.postgresUrl },
  });
  const token = await makeToken(server.url);
  await fillTable();
  const headers = { authorization: `Bearer ${token}` };
  const seen = new Uint8Array(ROWS);
  let arrived = 0;
  let pages = 0;
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: String(PAGE), ...(cursor === null ? {} : { cursor }) });
    const response = await fetch(`${server.url}/api/v1/logs/search?${query}`, { headers });
    expect(response.status).toBe(200);
    const page: Page = JSON.parse(await response.text());
    for (const { message } of page.entries) {
      const row = /^row (\d+)$/.exec(message)?.[1];
      if (row === undefined) throw new Error(`an entry that came later is on a page: ${message}`);
      seen[Number(row)] = (seen[Number(row)] ?? 0) + 1;
    }
    cursor = page.nextCursor;
    if (pages++ % 10 === 0) {
      const ages = [0, 60_000, 3_000_000, -60_000].map((ms) => new Date(Date.now() - ms).toISOString());
      await ingestEntries(
        server.url,
        token,
        ages.map((ts) => ({ message: `late ${arrived++}`, ts })),
      );
    }
  } while (cursor !== null);
  expect(pages).toBe(ROWS / PAGE);
  expect(arrived).toBe(4 * Math.ceil(pages / 10));
  expect(seen.every((count) => count === 1)).toBe(true);
  await server.stop();
});
