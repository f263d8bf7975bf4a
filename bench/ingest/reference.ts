import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { LogBatch } from "../../ingest/log-batch.ts";
import { LOG_ID_STEP } from "../../ingest/log-id.ts";
import { ByteBuffer } from "../../ingest/native/byte-buffer.ts";
import { createLogger } from "../../src/log.ts";
import { openStores } from "../../src/storage/open.ts";
import { jsonLineBodies, nativeBodies } from "./bodies.ts";
import { usageBetween, usageOfTree } from "./process-usage.ts";

/** What one way of pumping rows straight into the store came to. */
interface ReferenceRun {
  readonly format: string;
  readonly rowsPerSecond: number;
  readonly clickhouseCpuSeconds: number;
}

/** Rows of one insert, and how many are sent at a time: what serves ClickHouse best. */
const ROWS_PER_INSERT = 100_000;
const CONNECTIONS = 2;

/**
 * Pumps the entries straight into ClickHouse over HTTP, into the same table in an engine started the same way: once as
 * JSONEachRow, once as Native blocks made beforehand.
 */
export async function measureReferences(entries: readonly object[]): Promise<ReferenceRun[]> {
  return [
    await pump("JSONEachRow", jsonLineBodies(entries, ROWS_PER_INSERT), entries.length),
    await pump("Native", nativeBlocks(entries), entries.length),
  ];
}

async function pump(format: string, bodies: readonly Uint8Array[], rows: number): Promise<ReferenceRun> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "obs-bench-"));
  const stores = await openStores(
    { dataDirectory, clickhouseUrl: null, databaseUrl: null, redisUrl: null },
    createLogger("silent"),
  );
  const { origin, user, password, database } = stores.clickhouseEndpoint;
  const settings = new URLSearchParams({
    query: `INSERT INTO logs FORMAT ${format}`,
    database,
    async_insert: "0",
    date_time_input_format: "best_effort",
  });
  const usageBefore = usageOfTree(process.pid);
  const startedAt = performance.now();
  let next = 0;
  const sendNext = async (): Promise<void> => {
    for (let index = next++; index < bodies.length; index = next++) {
      settings.set("insert_deduplication_token", `${format}-${index}`);
      const response = await fetch(`${origin}/?${settings}`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${user}:${password}`)}` },
        body: bodies[index] ?? null,
      });
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendNext));
  const seconds = (performance.now() - startedAt) / 1000;
  const usage = usageBetween(usageBefore, usageOfTree(process.pid));
  await stores.close();
  rmSync(dataDirectory, { recursive: true, force: true });
  return { format, rowsPerSecond: rows / seconds, clickhouseCpuSeconds: usage.clickhouse?.cpuSeconds ?? 0 };
}

function nativeBlocks(entries: readonly object[]): Uint8Array[] {
  const format = new NativeFormat();
  const batch = new LogBatch();
  const blocks: Uint8Array[] = [];
  const finish = (): void => {
    const out = new ByteBuffer();
    batch.writeTo(out, BigInt(blocks.length) << 32n, LOG_ID_STEP);
    batch.clear();
    blocks.push(out.view());
  };
  for (const body of nativeBodies(entries, 500)) {
    batch.beginRequest(1, Date.now());
    format.decode(body, batch, new Set());
    batch.keepRequest();
    if (batch.rows >= ROWS_PER_INSERT) finish();
  }
  if (batch.rows > 0) finish();
  return blocks;
}
