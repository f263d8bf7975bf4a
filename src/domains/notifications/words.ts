import type { Notification } from "../../notify/channels/notification.ts";
import type { ProblemSource, Severity } from "../../problems/events.ts";

/** What became of an incident. */
export type IncidentEvent = "opened" | "acknowledged" | "updated" | "reopened" | "resolved";

/** An incident as its events tell of it. */
export interface ToldIncident {
  readonly id: number;
  readonly title: string;
  readonly severity: Severity;
  readonly monitorIds: readonly number[];
  readonly source: ProblemSource | null;
  readonly openedAt: string;
  readonly resolvedAt: string | null;
  readonly flapping: boolean;
  readonly escalationPolicyId: number | null;
  /** Of an incident of a rule. */
  readonly ruleKind?: "log" | "metric" | "correlation" | undefined;
}

/** A row of the timeline of an incident, as its events tell of it. */
interface ToldUpdate {
  readonly body: string;
}

/** What an event of an incident tells. */
export interface ToldEvent {
  readonly event: IncidentEvent;
  readonly incident: ToldIncident;
  /** What was written into its timeline. */
  readonly update: ToldUpdate | null;
  /** ISO-8601. */
  readonly at: string;
}

const TONES: Readonly<Record<IncidentEvent, Notification["tone"]>> = {
  opened: "problem",
  reopened: "problem",
  acknowledged: "answered",
  updated: "note",
  resolved: "recovery",
};
const PREFIXES: Readonly<Record<IncidentEvent, string>> = {
  opened: "",
  reopened: "Again: ",
  acknowledged: "Acknowledged: ",
  updated: "Update: ",
  resolved: "Resolved: ",
};

/** An event of an incident in words, for whoever is to be told. */
export function notificationOf(told: ToldEvent, publicUrl: string): Notification {
  const { event, incident, update, at } = told;
  const { id, title, severity, source } = incident;
  const prefix = incident.flapping && event === "reopened" ? "Flapping: " : PREFIXES[event];
  const isOfMonitor = source !== null && ["monitor", "certificate", "slo"].includes(source.kind);
  return {
    type: typeOf(event, source),
    tone: TONES[event],
    at,
    severity,
    title: `${prefix}${title}`,
    lines: [...(update === null ? [] : [update.body]), timesOf(told)],
    incidentId: id,
    incident: { ...incident },
    ...(update !== null && { update: { ...update } }),
    monitor: isOfMonitor ? { id: source.id, name: source.name } : null,
    link: `${publicUrl}/incidents/${id}`,
    acknowledgeLink: null,
  };
}

/** What is said of a monitor besides its incidents: it is down still, or nothing is found out about it any more. */
export interface ToldOfMonitor {
  readonly kind: "reminder" | "unobserved";
  readonly monitorId: number;
  readonly name: string;
  /** Of a reminder. */
  readonly status?: "down" | "degraded";
  /** ISO-8601: since when, and when it is said. */
  readonly since: string;
  readonly at: string;
}

export function monitorNotification(
  { kind, monitorId, name, status = "down", since, at }: ToldOfMonitor,
  incidentId: number | null,
  publicUrl: string,
): Notification {
  const isReminder = kind === "reminder";
  const lastedFor = lasted(Date.parse(at) - Date.parse(since));
  return {
    type: isReminder ? "monitor.reminder" : "monitor.unobserved",
    tone: isReminder ? "problem" : "note",
    at,
    severity: isReminder && status === "down" ? "high" : "medium",
    title: isReminder ? `Still ${status}: ${name}` : `Not observed: ${name}`,
    lines: [
      isReminder
        ? `For ${lastedFor}, and nobody has acknowledged it.`
        : `Nothing has been found out about it for ${lastedFor}; it may be up or down.`,
    ],
    incidentId,
    incident: null,
    monitor: { id: monitorId, name },
    link: `${publicUrl}/monitors/${monitorId}`,
    acknowledgeLink: null,
  };
}

/** What a webhook says it is: objectives and certificates have names of their own. */
function typeOf(event: IncidentEvent, source: ProblemSource | null): string {
  if (source?.kind === "slo" && event === "opened") return "slo.breached";
  if (source?.kind === "slo" && event === "resolved") return "slo.recovered";
  if (source?.kind === "certificate" && event === "opened") return "certificate.expiring";
  return `incident.${event}`;
}

function timesOf({ event, incident: { openedAt, resolvedAt, severity } }: ToldEvent): string {
  if (event === "resolved" && resolvedAt !== null)
    return `It lasted ${lasted(Date.parse(resolvedAt) - Date.parse(openedAt))}.`;
  return `Since ${openedAt.slice(0, 19).replace("T", " ")} UTC, severity ${severity}.`;
}

/** A length of time as people say it, in its two largest units. */
function lasted(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1000), 0);
  const units: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const from = units.findIndex(([count]) => count > 0);
  if (from === -1) return "0 s";
  return units
    .slice(from, from + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
