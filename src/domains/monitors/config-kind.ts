import type { SecretBox } from "../../access/secret-box.ts";
import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { SEALED_CHANNELS } from "../../notify/alert-channels.ts";
import { settingsOf } from "./secrets.ts";
import { type MonitorDependencies, MonitorService } from "./service.ts";
import { listMonitors } from "./store.ts";
import { CreateMonitorBody, DEFAULTS, UpdateMonitorBody } from "./types.ts";

/** Monitors as files describe them. Without regions they are checked here, which is what `local` says. */
export function monitorKind(deps: MonitorDependencies & { readonly box: SecretBox }): ConfigKind {
  const service = new MonitorService(deps);
  return configKind({
    kind: "monitors",
    audit: "MONITOR",
    table: "monitors",
    read: { role: "viewer", scope: "monitors:read" },
    write: { role: "member", scope: "monitors:write" },
    create: CreateMonitorBody,
    update: UpdateMonitorBody,
    defaults: { ...DEFAULTS, regions: ["local"] },
    secrets: [...SEALED_CHANNELS, "headers", "body", "steps"],
    references: [{ at: ["escalationPolicyId"], to: "escalation-policies" }],
    list: async (tx, organizationId, limit) =>
      (await listMonitors(tx, organizationId, [])).slice(0, limit).map((row) => {
        return { id: row.id, fields: settingsOf(row, deps.box) };
      }),
    make: (change, bodies) => service.create(change, bodies, () => ""),
    change: (change, id, body) => service.update(change, [Number(id)], body, ""),
    remove: (change, id) => service.remove(change, [Number(id)]),
  });
}
