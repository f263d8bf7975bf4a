import { Type } from "typebox";
import { findRetention } from "../../../archive/retention/store.ts";
import { NO_RETENTION_SETTINGS, RetentionBody } from "../../../archive/retention/types.ts";
import type { ConfigKind } from "../../../configuration/config-kind.ts";
import { settingKind } from "../../../configuration/setting-kind.ts";
import { changeRetention } from "./service.ts";

const { days, rules } = RetentionBody.properties;
const RetentionTerms = Type.Object({ days: Type.Optional(days), rules }, { additionalProperties: false });

/** How long entries stay in the log store, as files describe it. `defaultDays` hold where an organisation sets none. */
export function retentionKind(defaultDays: number): ConfigKind {
  return settingKind({
    kind: "retention",
    action: "UPDATE_LOG_RETENTION",
    read: { role: "viewer", scope: "logs:read" },
    write: { role: "admin", scope: "account:write" },
    body: RetentionTerms,
    defaults: { rules: [] },
    find: async (tx, organizationId) => {
      const settings = (await findRetention(tx, organizationId)) ?? NO_RETENTION_SETTINGS;
      return { ...settings, rules: settings.rules.map(named) };
    },
    put: (change, { days = null, ...rest }) => changeRetention(change, { days, ...rest }, defaultDays),
  });
}

/** A rule without what it does not name, as files have it. */
function named(rule: object): object {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== null));
}
