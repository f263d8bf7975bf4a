import type { TransactionSql } from "postgres";

/** The queries about whom an organisation tells where nothing else is said; the organisation comes first in each. */

export interface AlertDefaultsRow {
  readonly alert_email: string | null;
  readonly sealed_channels: Uint8Array | null;
  readonly channels: readonly string[];
  readonly sealed_templates: Uint8Array | null;
  readonly template_names: readonly string[];
  readonly escalation_policy_id: string | null;
}

/** What counts until somebody says something. */
const NO_DEFAULTS: AlertDefaultsRow = {
  alert_email: null,
  sealed_channels: null,
  channels: [],
  sealed_templates: null,
  template_names: [],
  escalation_policy_id: null,
};

export async function findDefaults(tx: TransactionSql, organizationId: number): Promise<AlertDefaultsRow> {
  const [row] = await tx<AlertDefaultsRow[]>`
    SELECT alert_email, sealed_channels, channels, sealed_templates, template_names, escalation_policy_id
    FROM alert_defaults WHERE organization_id = ${organizationId}`;
  return row ?? NO_DEFAULTS;
}

/** The channels of an organisation, by their names. */
export async function defaultChannels(tx: TransactionSql, organizationId: number): Promise<string[]> {
  const { alert_email, channels, template_names } = await findDefaults(tx, organizationId);
  return [...(alert_email === null ? [] : ["alertEmail"]), ...channels, ...template_names];
}

export async function replaceDefaults(
  tx: TransactionSql,
  organizationId: number,
  row: AlertDefaultsRow,
  nowMs: number,
): Promise<void> {
  const values = {
    ...row,
    channels: [...row.channels],
    template_names: [...row.template_names],
    updated_at: new Date(nowMs),
  };
  await tx`
    INSERT INTO alert_defaults ${tx({ organization_id: organizationId, ...values })}
    ON CONFLICT (organization_id) DO UPDATE SET ${tx(values)}`;
}
