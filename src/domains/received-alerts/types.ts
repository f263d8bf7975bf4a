import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";
import { recordId } from "../../http/stored-values.ts";
import { SEVERITIES } from "../../problems/events.ts";
import { ALERTS_MAX, BODY_MAX_CHARS, KEY_MAX_CHARS, TITLE_MAX_CHARS } from "./limits.ts";

const base = recordSchemas({
  name: "AlertReceiver",
  required: { name: Type.String({ minLength: 1, maxLength: 255, examples: ["Alertmanager of production"] }) },
  optional: {
    escalationPolicyId: recordId({
      description: "Who is paged for its incidents; nobody without one.",
    }),
  },
});
const severity = Type.Enum([...SEVERITIES], {
  description: "Of alerts that do not say how bad they are. `medium` by default.",
  examples: ["high"],
});
const closed = { additionalProperties: false };

export const CreateAlertReceiverBody = Type.Object(
  { ...base.create.properties, severity: Type.Optional(severity) },
  { $id: "CreateAlertReceiver", ...closed, examples: [{ name: "Alertmanager of production" }] },
);
export type CreateAlertReceiverBody = Static<typeof CreateAlertReceiverBody>;

export const UpdateAlertReceiverBody = Type.Object(
  { ...base.update.properties, severity: Type.Optional(severity) },
  { $id: "UpdateAlertReceiver", ...closed, examples: [{ severity: "high" }] },
);
export type UpdateAlertReceiverBody = Static<typeof UpdateAlertReceiverBody>;

export const AlertReceiver = Type.Object({ ...base.record.properties, severity }, { $id: "AlertReceiver" });
export type AlertReceiver = Static<typeof AlertReceiver>;

/** The receiver with what is shown this once. */
export const MintedAlertReceiver = Type.Object(
  {
    ...AlertReceiver.properties,
    token: Type.String({ description: "Shown this once.", examples: ["x".repeat(43)] }),
    url: Type.String({
      description: "Where senders post; it holds the token.",
      examples: [`https://obs.example.com/api/v1/alerts/${"x".repeat(43)}`],
    }),
  },
  { $id: "MintedAlertReceiver" },
);
export type MintedAlertReceiver = Static<typeof MintedAlertReceiver>;

const State = Type.Enum(["firing", "resolved"]);
const Texts = Type.Record(Type.String(), Type.String());

/** An alert as Alertmanager and Grafana send it; what they add to it is passed over. */
const GroupedAlert = Type.Object({
  status: State,
  labels: Texts,
  annotations: Type.Optional(Texts),
  startsAt: Type.Optional(Type.String()),
  endsAt: Type.Optional(Type.String()),
  generatorURL: Type.Optional(Type.String()),
  /** Of the labels. */
  fingerprint: Type.Optional(Type.String()),
});
export type GroupedAlert = Static<typeof GroupedAlert>;

/**
 * The body of Alertmanager's webhook, version 4, and of Grafana's, which has the same members and some of its own. Source:
 * Prometheus, "Configuration", `<webhook_config>`; Grafana, "Configure the webhook notifier for Alerting".
 */
export const AlertGroup = Type.Object(
  {
    status: State,
    alerts: Type.Array(GroupedAlert, { minItems: 1, maxItems: ALERTS_MAX }),
    /** The same for every body about the group. */
    groupKey: Type.Optional(Type.String()),
    groupLabels: Type.Optional(Texts),
    commonLabels: Type.Optional(Texts),
    commonAnnotations: Type.Optional(Texts),
    externalURL: Type.Optional(Type.String()),
    truncatedAlerts: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Grafana's alone. */
    orgId: Type.Optional(Type.Integer()),
  },
  {
    $id: "AlertGroup",
    description: "What Alertmanager and Grafana send: one incident for each `groupKey`.",
    examples: [
      {
        status: "firing",
        groupKey: '{}:{alertname="HostDown"}',
        alerts: [
          {
            status: "firing",
            labels: { alertname: "HostDown", instance: "db-1", severity: "critical" },
            annotations: { summary: "db-1 does not answer" },
            startsAt: "2026-03-01T11:59:58Z",
          },
        ],
      },
    ],
  },
);
export type AlertGroup = Static<typeof AlertGroup>;

/** What anything else sends. */
export const PlainAlert = Type.Object(
  {
    key: Type.String({
      minLength: 1,
      maxLength: KEY_MAX_CHARS,
      description: "What is wrong: one incident is open of each, and the same key ends it.",
      examples: ["backup-db-1"],
    }),
    status: State,
    title: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: TITLE_MAX_CHARS,
        description: "Needed while it fires.",
        examples: ["The backup of db-1 failed"],
      }),
    ),
    severity: Type.Optional(Type.Enum([...SEVERITIES])),
    body: Type.Optional(Type.String({ maxLength: BODY_MAX_CHARS, examples: ["No space left on device."] })),
  },
  {
    $id: "PlainAlert",
    ...closed,
    examples: [{ key: "backup-db-1", status: "firing", title: "The backup of db-1 failed" }],
  },
);
export type PlainAlert = Static<typeof PlainAlert>;

export const ReceivedAlerts = Type.Object(
  {
    firing: Type.Integer({ description: "Keys that are wrong; an incident is open of each, or opens now." }),
    resolved: Type.Integer({ description: "Keys that are well; an incident that is open of one ends." }),
  },
  { $id: "ReceivedAlerts" },
);
