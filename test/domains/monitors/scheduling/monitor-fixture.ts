import type { Sql } from "postgres";
import { Registry } from "prom-client";
import { Changes } from "../../../../src/changes/changes.ts";
import { BatchSender } from "../../../../src/domains/monitors/scheduling/batch-sender.ts";
import { monitorMetrics } from "../../../../src/domains/monitors/scheduling/monitor-metrics.ts";
import { MonitorScheduler } from "../../../../src/domains/monitors/scheduling/monitor-scheduler.ts";
import { RoundCommit } from "../../../../src/domains/monitors/scheduling/round-commit.ts";
import { ShardLeases } from "../../../../src/domains/monitors/scheduling/shard-leases.ts";
import { createLogger } from "../../../../src/log.ts";
import type { TestStores } from "../../../harness/stores.ts";
import { specOf } from "../../../probes/checking.ts";

const PROGRAM = new URL("./plain-checks.ts", import.meta.url);

/** What a monitor of these tests needs; the rest is as it is by default. */
interface FixtureMonitor {
  readonly url: string;
  readonly type?: string;
  readonly intervalSec?: number;
  readonly retryIntervalSec?: number;
  readonly alertThreshold?: number;
  readonly regions?: string[];
  readonly heartbeatGraceSec?: number;
}

export async function insertOrganization(sql: Sql): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('Tests', now()) RETURNING id`;
  if (row === undefined) throw new Error("no organisation");
  return row.id;
}

/** Stores monitors as the API does, with intervals that it would refuse. */
export async function insertMonitors(
  sql: Sql,
  organizationId: number,
  monitors: readonly FixtureMonitor[],
): Promise<number[]> {
  const now = new Date();
  const rows = monitors.map((monitor) => ({
    organization_id: organizationId,
    name: "Shop",
    url: monitor.url,
    type: monitor.type ?? "http",
    interval_sec: monitor.intervalSec ?? 1,
    timeout_ms: 5_000,
    retry_interval_sec: monitor.retryIntervalSec ?? null,
    alert_threshold: monitor.alertThreshold ?? 2,
    regions: monitor.regions ?? null,
    heartbeat_grace_sec: monitor.heartbeatGraceSec ?? 0,
    heartbeat_token_hash: Buffer.from(crypto.getRandomValues(new Uint8Array(32))),
    sealed_heartbeat_token: Buffer.alloc(1),
    created_at: now,
    updated_at: now,
  }));
  return sql.begin(async (tx) => {
    const inserted = await tx<{ id: string }[]>`INSERT INTO monitors ${tx(rows)} RETURNING id`;
    const ids = inserted.map(({ id }) => Number(id));
    await tx`
      INSERT INTO monitor_state (monitor_id, organization_id)
      SELECT id, ${organizationId} FROM unnest(${ids}::bigint[]) AS id`;
    return ids;
  });
}

interface RunnerOptions {
  readonly sql: Sql;
  readonly owner?: string;
  readonly monthlyChecks?: number;
  readonly onUsedUp?: (organizationId: number) => void;
  /** Of the thread that makes checks; what it says is wrong is told. */
  readonly program?: URL;
  readonly onFault?: (line: string) => void;
}

/** Everything that runs monitors in one instance, without the rest of a server. */
export function openRunner(options: RunnerOptions) {
  const { sql, owner = crypto.randomUUID(), monthlyChecks, onUsedUp, program = PROGRAM, onFault } = options;
  const log = onFault === undefined ? createLogger("silent") : createLogger("warn", { write: onFault });
  const changes = new Changes({ sql, now: Date.now });
  const leases = new ShardLeases(sql, owner);
  const commit = new RoundCommit({
    changes,
    epochOf: (shard) => leases.epochOf(shard),
    monthlyChecks: monthlyChecks ?? null,
    tellUsedUp: async (change) => onUsedUp?.(change.organizationId),
  });
  const metrics = monitorMetrics(new Registry());
  const scheduler = new MonitorScheduler({
    sql,
    leases,
    commit,
    specOf: ({ url, timeout_ms: timeoutMs }) => specOf({ type: "http", url, timeoutMs }),
    program,
    settings: {},
    canaries: [],
    now: Date.now,
    metrics,
    log,
  });
  return { scheduler, leases, commit, changes, metrics };
}

export function openSender({ postgres: sql, clickhouseEndpoint: clickhouse }: TestStores): BatchSender {
  const metrics = monitorMetrics(new Registry());
  return new BatchSender({ sql, clickhouse, metrics, log: createLogger("silent") });
}

/** A slot as it stands in the log store. */
export interface StoredCheck {
  readonly monitorId: number;
  readonly slotMs: number;
  readonly region: string;
  readonly status: string;
  readonly slots: number;
}

/** Takes everything that waits to the log store and reads all of it, by monitor and slot. */
export async function storedChecks(stores: TestStores): Promise<StoredCheck[]> {
  const sender = openSender(stores);
  const { signal } = new AbortController();
  for (;;) {
    const [row] = await stores.postgres<{ waiting: string }[]>`SELECT count(*) AS waiting FROM check_batches`;
    if (row?.waiting === "0") break;
    await stores.postgres`UPDATE check_batches SET next_attempt_at = now()`;
    await sender.workOnce(signal);
  }
  const answer = await stores.clickhouse.query({
    query: `SELECT monitor_id, toUnixTimestamp64Milli(slot) AS slot_ms, region, status, slots FROM monitor_checks
            ORDER BY monitor_id, slot, region`,
    format: "JSONEachRow",
  });
  const rows = await answer.json<{
    monitor_id: string;
    slot_ms: string;
    region: string;
    status: string;
    slots: number;
  }>();
  return rows.map((row) => ({
    monitorId: Number(row.monitor_id),
    slotMs: Number(row.slot_ms),
    region: row.region,
    status: row.status,
    slots: row.slots,
  }));
}
