import type { Sql, TransactionSql } from "postgres";
import { type Static, Type } from "typebox";
import type { SecretBox } from "../../access/secret-box.ts";
import type { Change } from "../../changes/change.ts";
import { type FieldIssue, validationFailed } from "../../errors.ts";
import { recordSchemas } from "../../http/record-schemas.ts";
import { recordId } from "../../http/stored-values.ts";
import { lateCheck } from "../../late-check.ts";
import {
  ALERT_CHANNEL_FLAGS,
  ALERT_CHANNELS,
  alertChannelFlags,
  openAlertChannels,
  requireAlertUrl,
  requireAlertUrls,
  sealAlertChannels,
  sealedChannelsOf,
} from "../../notify/alert-channels.ts";
import { eachOnce, targetsOfChannels } from "../../notify/alert-targets.ts";
import type { Target } from "../../notify/channels/target.ts";
import { TEMPLATE_NAMES, unknownPlaceholders } from "../../notify/channels/template.ts";
import { hasPolicy } from "../../on-call/policy-store.ts";
import type { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization, lockOrganization } from "../../storage/organization-transaction.ts";
import { type AlertDefaultsRow, findDefaults, replaceDefaults } from "./default-store.ts";

const TABLE = "alert_defaults";
const TEMPLATES_PURPOSE = "alert-templates";
const TEMPLATES_MAX = 10;

const HeaderName = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$";
const Template = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, examples: ["ntfy"] }),
    url: Type.String({
      format: "uri",
      maxLength: 2048,
      description: "May hold placeholders, too, behind its host.",
      examples: ["https://ntfy.example.com/alerts"],
    }),
    method: Type.Optional(Type.Enum(["POST", "PUT"], { description: "POST by default." })),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: HeaderName }),
        Type.String({ maxLength: 2048, pattern: "^[\\t\\x20-\\x7e\\xa0-\\xff]*$" }),
        { maxProperties: 20, additionalProperties: false, examples: [{ Title: "{{title}}" }] },
      ),
    ),
    body: Type.String({
      maxLength: 8192,
      description: `Placeholders in two braces: ${TEMPLATE_NAMES.join(", ")}.`,
      examples: ['{"message": "{{title}}"}'],
    }),
  },
  { additionalProperties: false },
);
type Template = Static<typeof Template>;
const storedTemplates = lateCheck(Type.Array(Template));

const PolicyId = Type.Union([recordId({ examples: [3] }), Type.Null()]);
/** Each may be null, which is the same as absent: what is put replaces everything. */
const channels = recordSchemas({ name: "AlertDefaults", required: {}, optional: ALERT_CHANNELS }).update;

export const AlertDefaultsBody = Type.Object(
  {
    ...channels.properties,
    templates: Type.Optional(
      Type.Array(Template, {
        maxItems: TEMPLATES_MAX,
        description: "Receivers that take requests of any form, such as ntfy, Gotify, Matrix.",
      }),
    ),
    escalationPolicyId: Type.Optional(PolicyId),
  },
  {
    $id: "AlertDefaultsBody",
    additionalProperties: false,
    examples: [{ alertEmail: "ops@example.com", alertChatAUrl: "https://chat.example.com/a" }],
  },
);
export type AlertDefaultsBody = Static<typeof AlertDefaultsBody>;

export const AlertDefaults = Type.Object(
  {
    alertEmail: Type.Union([Type.String({ examples: ["ops@example.com"] }), Type.Null()]),
    ...ALERT_CHANNEL_FLAGS,
    templates: Type.Array(Type.String({ examples: ["ntfy"] }), { description: "Their names." }),
    escalationPolicyId: PolicyId,
  },
  { $id: "AlertDefaults" },
);
export type AlertDefaults = Static<typeof AlertDefaults>;

/** Whom an organisation tells where nothing else is said, without its secrets. */
export async function readDefaults(sql: Sql, organizationId: number): Promise<AlertDefaults> {
  return shown(
    await askPostgres(() => inOrganization(sql, organizationId, (tx) => findDefaults(tx, organizationId))),
  );
}

/** Replaces them all. Throws VALIDATION_FAILED and ALERT_URL_BLOCKED. */
export async function putDefaults(
  change: Change,
  { box, policy }: { box: SecretBox; policy: OutboundPolicy },
  body: AlertDefaultsBody,
): Promise<AlertDefaults> {
  const { tx, organizationId, nowMs } = change;
  requireAlertUrls(policy, body);
  const templates = body.templates ?? [];
  const policyId = body.escalationPolicyId ?? null;
  const issues = [
    ...templates.flatMap((template, at) => issuesOfTemplate(template, at, policy)),
    ...(policyId === null || (await hasPolicy(tx, organizationId, policyId)) ? [] : [NO_POLICY]),
  ];
  if (issues.length > 0) throw validationFailed(issues);
  await lockOrganization(tx, organizationId);
  const before = await findDefaults(tx, organizationId);
  const sealed = sealAlertChannels(box, TABLE, sealedChannelsOf(body));
  const after: AlertDefaultsRow = {
    alert_email: body.alertEmail ?? null,
    sealed_channels: sealed.sealed,
    channels: sealed.names,
    sealed_templates: templates.length === 0 ? null : box.seal(JSON.stringify(templates), TEMPLATES_PURPOSE),
    template_names: templates.map(({ name }) => name),
    escalation_policy_id: policyId === null ? null : String(policyId),
  };
  await replaceDefaults(tx, organizationId, after, nowMs);
  change.record({ resource: `alert-channels:${organizationId}`, before: shown(before), after: shown(after) });
  return shown(after);
}

/** The receivers of an organisation where nothing else is said. */
export async function defaultTargets(
  tx: TransactionSql,
  box: SecretBox,
  organizationId: number,
): Promise<Target[]> {
  const row = await findDefaults(tx, organizationId);
  const own = targetsOfChannels(row.alert_email, openAlertChannels(box, TABLE, row.sealed_channels));
  return eachOnce([...own, ...templateTargets(openTemplates(box, row.sealed_templates))]);
}

/** All that was said, with its secrets in the clear. */
export async function openDefaults(
  tx: TransactionSql,
  box: SecretBox,
  organizationId: number,
): Promise<AlertDefaultsBody> {
  const row = await findDefaults(tx, organizationId);
  return {
    alertEmail: row.alert_email,
    ...openAlertChannels(box, TABLE, row.sealed_channels),
    templates: openTemplates(box, row.sealed_templates),
    escalationPolicyId: row.escalation_policy_id === null ? null : Number(row.escalation_policy_id),
  };
}

const NO_POLICY: FieldIssue = {
  path: "/escalationPolicyId",
  code: "custom",
  message: "is no policy of the organisation",
};

function issuesOfTemplate(template: Template, at: number, policy: OutboundPolicy): FieldIssue[] {
  const { url, headers = {}, body } = template;
  const issues: FieldIssue[] = [];
  const issue = (path: string, message: string): number =>
    issues.push({ path: `/templates/${at}${path}`, code: "custom", message });
  // The host is written out: what is told never says where it goes.
  const host = URL.parse(url)?.host ?? "";
  if (host.includes("{") || host.includes("%7B")) issue("/url", "must name its host without placeholders");
  else requireAlertUrl(policy, url, `/templates/${at}/url`);
  for (const name of unknownPlaceholders([url, body, ...Object.values(headers)].join("\n")))
    issue("/body", `names {{${name}}}, which means nothing; there are ${TEMPLATE_NAMES.join(", ")}`);
  return issues;
}

function openTemplates(box: SecretBox, sealed: Uint8Array | null): Template[] {
  if (sealed === null) return [];
  const templates: unknown = JSON.parse(box.open(sealed, TEMPLATES_PURPOSE));
  if (!storedTemplates.Check(templates)) throw new Error("sealed templates have an unknown form");
  return templates;
}

function templateTargets(templates: readonly Template[]): Target[] {
  return templates.map(({ url, method = "POST", headers = {}, body }) => ({
    channel: "template",
    ...{ url, method, headers, body },
  }));
}

function shown(row: AlertDefaultsRow): AlertDefaults {
  return {
    alertEmail: row.alert_email,
    ...alertChannelFlags(row.channels),
    templates: [...row.template_names],
    escalationPolicyId: row.escalation_policy_id === null ? null : Number(row.escalation_policy_id),
  };
}
