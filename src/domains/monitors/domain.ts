import type { QueryRunner } from "../../storage/query-runner.ts";
import { badgeRoutes } from "./badge.ts";
import { monitorExportRoutes } from "./export-csv.ts";
import { HeartbeatReceiver } from "./heartbeats/receive.ts";
import { heartbeatRoutes } from "./heartbeats/routes.ts";
import { CheckRows } from "./reads/check-rows.ts";
import { monitorReadRoutes } from "./reads/routes.ts";
import { monitorRoutes } from "./routes.ts";
import { type MonitorDependencies, MonitorService } from "./service.ts";
import type { TestAlerts } from "./test-alerts.ts";

interface MonitorDomainDependencies extends MonitorDependencies {
  readonly runner: Pick<QueryRunner, "run">;
  /** Signs cursors. */
  readonly cursorKey: Uint8Array;
  readonly testAlerts: TestAlerts;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What is watched: what people do with monitors, what these found, and the heartbeats that come in. */
export function monitorDomain(deps: MonitorDomainDependencies) {
  const service = new MonitorService(deps);
  const rows = new CheckRows(deps.runner);
  return {
    routes: [
      ...monitorRoutes(service, deps.testAlerts),
      ...monitorReadRoutes({ ...deps, service, rows }),
      ...monitorExportRoutes(service),
      ...heartbeatRoutes(new HeartbeatReceiver(deps)),
      ...badgeRoutes(deps),
    ],
  };
}
