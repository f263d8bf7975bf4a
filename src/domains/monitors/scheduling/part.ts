import { createHash } from "node:crypto";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql } from "postgres";
import type { SecretBox } from "../../../access/secret-box.ts";
import type { Changes } from "../../../changes/changes.ts";
import type { Config } from "../../../config/config.ts";
import type { Logger } from "../../../log.ts";
import type { EnqueueMail } from "../../../notify/mail/outbox.ts";
import { CHECK_PROGRAM, type CheckSettings } from "../../../probes/schedule/messages.ts";
import type { ClickHouseEndpoint } from "../../../storage/clickhouse.ts";
import { directoryIdentity } from "../../../storage/instance/directory-identity.ts";
import type { MonitorChanges } from "../../../uptime/monitor-changes.ts";
import type { PlanCaps } from "../../../usage/plan.ts";
import { removeOldResults } from "../regions/probe-result-store.ts";
import { regionDomain } from "../regions/routes.ts";
import { checkSpecOf } from "../secrets.ts";
import type { MonitorRow } from "../store.ts";
import type { RunnableRow } from "./assignment-store.ts";
import { BatchSender } from "./batch-sender.ts";
import { removeOldBatches } from "./batch-store.ts";
import { HeartbeatWatch } from "./heartbeat-watch.ts";
import { WAKE_GATHER_MS } from "./limits.ts";
import { MaintenanceSettlement } from "./maintenance-settlement.ts";
import type { MonitorMetrics } from "./monitor-metrics.ts";
import { MonitorScheduler } from "./monitor-scheduler.ts";
import { RoundCommit } from "./round-commit.ts";
import { ShardLeases } from "./shard-leases.ts";
import { SloWatch } from "./slo-watch.ts";
import { usedUpMailer } from "./used-up-mail.ts";

interface SchedulingDependencies {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseClient;
  readonly clickhouseEndpoint: ClickHouseEndpoint;
  readonly changes: Changes;
  readonly config: Pick<
    Config,
    | "dataDirectory"
    | "outboundAllow"
    | "monitorAllowPrivate"
    | "browserPath"
    | "probeCanaries"
    | "probeTokens"
  >;
  readonly box: SecretBox;
  readonly plans: Pick<PlanCaps, "plan">;
  readonly enqueueMail: EnqueueMail;
  readonly publicUrl: string;
  readonly monitorChanges: MonitorChanges;
  readonly metrics: MonitorMetrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

/** Runs this server's part of the monitors, and what becomes of what they find. */
export function monitorScheduling(deps: SchedulingDependencies) {
  const { sql, config, box, plans, changes } = deps;
  const leases = new ShardLeases(sql, ownerOf(config.dataDirectory));
  const commit = new RoundCommit({
    changes,
    epochOf: (shard) => leases.epochOf(shard),
    monthlyChecks: plans.plan.monthlyChecks,
    tellUsedUp: usedUpMailer(deps),
  });
  const settings: CheckSettings = {
    allow: config.outboundAllow ?? [],
    allowPrivate: config.monitorAllowPrivate,
    browserPath: config.browserPath,
  };
  const scheduler = new MonitorScheduler<MonitorRow & RunnableRow>({
    ...deps,
    leases,
    commit,
    specOf: (row) => checkSpecOf(row, box),
    program: CHECK_PROGRAM,
    settings,
    canaries: config.probeCanaries ?? [],
  });
  const regions = regionDomain<MonitorRow & RunnableRow>({
    ...deps,
    specOf: (row) => checkSpecOf(row, box),
    tokens: config.probeTokens ?? {},
    time: () => scheduler.time,
    onResults: () => scheduler.wakeIntake(),
  });
  const heartbeats = new HeartbeatWatch({ ...deps, commit, shards: () => leases.shards });
  const parts = [
    scheduler,
    heartbeats,
    new BatchSender({ ...deps, clickhouse: deps.clickhouseEndpoint }),
    new MaintenanceSettlement(deps),
    new SloWatch(deps),
  ];
  let gathering: ReturnType<typeof setTimeout> | undefined;
  // Heartbeats ring, too, and there may be many.
  const ring = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      scheduler.wake();
      heartbeats.wake();
    }, WAKE_GATHER_MS);
  };
  return {
    ...regions,
    housekeeping: [removeOldBatches, removeOldResults],
    start: () => {
      deps.monitorChanges.listen(ring);
      for (const part of parts) part.start();
    },
    stop: async () => {
      clearTimeout(gathering);
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}

/** The data directory as the owner of shards: a restart is the same one, a copy of the folder is another. */
function ownerOf(dataDirectory: string): string {
  const identity = directoryIdentity(dataDirectory);
  if (identity === null) return crypto.randomUUID();
  const hex = createHash("sha256").update(`monitor shards of ${identity}`).digest("hex");
  return [0, 8, 12, 16, 20].map((from, index, all) => hex.slice(from, all[index + 1] ?? 32)).join("-");
}
