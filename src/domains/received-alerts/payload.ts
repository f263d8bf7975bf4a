import { createHash } from "node:crypto";
import { validationFailed } from "../../errors.ts";
import { compileSchema } from "../../http/validate.ts";
import { SEVERITIES, type Severity } from "../../problems/events.ts";
import { boundedText, cleanTexts, jsonBytes } from "./bounded-text.ts";
import {
  DATED_BACK_MAX_MS,
  EVIDENCE_MAX_BYTES,
  SUMMARY_MAX_ALERTS,
  SUMMARY_MAX_BYTES,
  TITLE_MAX_BYTES,
  TITLE_MAX_CHARS,
  UNGROUPED_MAX,
} from "./limits.ts";
import { AlertGroup, type GroupedAlert, PlainAlert } from "./types.ts";

/** What a sender says of one key, whatever its format. Texts fit into an event. */
export interface ReceivedAlert {
  readonly key: string;
  readonly isFiring: boolean;
  readonly title: string;
  /** Null where the sender does not say. */
  readonly severity: Severity | null;
  /** When it began, or when it ended; not in the future. Milliseconds since 1970. */
  readonly atMs: number;
  readonly summary: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

const groups = compileSchema(AlertGroup);
const plain = compileSchema(PlainAlert);

/** Words for severities that senders are configured with; others say nothing. */
const SEVERITY_WORDS: Readonly<Record<Severity, readonly string[]>> = {
  critical: ["critical", "crit", "page", "fatal", "emergency", "disaster", "p1", "sev1"],
  high: ["high", "error", "major", "p2", "sev2"],
  medium: ["medium", "warning", "warn", "average", "p3", "sev3"],
  low: ["low", "info", "information", "informational", "notice", "minor", "none", "p4", "p5", "sev4"],
};

/**
 * What a body says: a group of Alertmanager or Grafana is one alert, of the group; alerts without a group are one each.
 * Throws VALIDATION_FAILED with the place of what is wrong.
 */
export function readAlerts(body: unknown, nowMs: number): ReceivedAlert[] {
  if (typeof body !== "object" || body === null || !("alerts" in body)) {
    if (!plain.check(body)) throw validationFailed(plain.issues(body));
    return [ofPlain(body, nowMs)];
  }
  if (!groups.check(body)) throw validationFailed(groups.issues(body));
  if (body.groupKey !== undefined && body.groupKey !== "")
    return [ofGroup(body.groupKey, body, body.alerts, nowMs)];
  if (body.alerts.length > UNGROUPED_MAX)
    throw validationFailed([
      { path: "/alerts", code: "too_big", message: `without \`groupKey\` must be ${UNGROUPED_MAX} or fewer` },
    ]);
  const alone = new Map(body.alerts.map((alert) => [keyOf(alert), alert]));
  return [...alone].map(([key, alert]) => ofGroup(key, body, [alert], nowMs));
}

function ofPlain({ key, status, title, severity, body }: PlainAlert, nowMs: number): ReceivedAlert {
  const isFiring = status === "firing";
  if (isFiring && title === undefined)
    throw validationFailed([{ path: "/title", code: "invalid_type", message: "is required" }]);
  const said = body === undefined || body.trim() === "" ? null : body;
  return {
    key,
    isFiring,
    title: boundedText(title ?? key, TITLE_MAX_BYTES),
    severity: severity ?? null,
    atMs: nowMs,
    summary: boundedText(said ?? (isFiring ? "Its sender says that it fires." : RESOLVED), SUMMARY_MAX_BYTES),
    evidence: { sender: "plain", ...(said !== null && { body: boundedText(said, EVIDENCE_MAX_BYTES) }) },
  };
}

const RESOLVED = "Its sender says that it is resolved.";

function ofGroup(
  key: string,
  group: AlertGroup,
  alerts: readonly GroupedAlert[],
  nowMs: number,
): ReceivedAlert {
  const firing = alerts.filter(({ status }) => status === "firing");
  const isFiring = firing.length > 0;
  const resolved = alerts.filter(({ status }) => status === "resolved");
  const times = isFiring ? firing.map(({ startsAt }) => startsAt) : resolved.map(({ endsAt }) => endsAt);
  const known = times.flatMap((time) => timeOf(time, nowMs) ?? []);
  const begunMs = isFiring ? Math.min(...known) : Math.max(...known);
  return {
    key,
    isFiring,
    title: boundedText([...titleOf(group, alerts)].slice(0, TITLE_MAX_CHARS).join(""), TITLE_MAX_BYTES),
    severity: severityOf(firing),
    atMs: known.length === 0 ? nowMs : begunMs,
    summary: boundedText(isFiring ? summaryOf(group, firing) : RESOLVED, SUMMARY_MAX_BYTES),
    evidence: evidenceOf(group, firing, resolved),
  };
}

/** What is wrong, in the words of whoever wrote the rule, else its name and what its group has in common. */
function titleOf(
  { commonAnnotations, commonLabels, groupLabels }: AlertGroup,
  alerts: readonly GroupedAlert[],
): string {
  const [first, ...others] = alerts;
  const alone = others.length === 0 ? first?.annotations?.summary : undefined;
  const summary = (alone ?? commonAnnotations?.summary ?? "").trim();
  if (summary !== "") return summary;
  const labels = { ...first?.labels, ...commonLabels, ...groupLabels };
  const name = labels.alertname?.trim() ?? "";
  const group = Object.entries(groupLabels ?? {}).filter(([label]) => label !== "alertname");
  const within =
    group.length === 0 ? "" : ` (${group.map(([label, value]) => `${label}=${value}`).join(", ")})`;
  return `${name === "" ? "Alert" : name}${within}`;
}

function summaryOf({ commonLabels = {} }: AlertGroup, firing: readonly GroupedAlert[]): string {
  const lines = firing.slice(0, SUMMARY_MAX_ALERTS).map(({ labels, annotations }) => {
    const own = Object.entries(labels).filter(([label, value]) => commonLabels[label] !== value);
    const name = own.map(([label, value]) => `${label}=${value}`).join(" ");
    const said = annotations?.description ?? annotations?.summary ?? "";
    return [name, said.trim()].filter((part) => part !== "").join(": ");
  });
  const more = firing.length - lines.length;
  return [
    firing.length === 1 ? "1 alert fires." : `${firing.length} alerts fire.`,
    ...lines.filter((line) => line !== ""),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n");
}

/** The worst that one of them says. */
function severityOf(firing: readonly GroupedAlert[]): Severity | null {
  const said = firing.flatMap(({ labels }) => {
    const word = (labels.severity ?? labels.priority ?? "").trim().toLowerCase();
    return SEVERITIES.find((severity) => SEVERITY_WORDS[severity].includes(word)) ?? [];
  });
  return SEVERITIES.findLast((severity) => said.includes(severity)) ?? null;
}

/** As many alerts as fit, those that fire first. */
function evidenceOf(
  { externalURL, truncatedAlerts = 0, orgId }: AlertGroup,
  firing: readonly GroupedAlert[],
  resolved: readonly GroupedAlert[],
): Record<string, unknown> {
  const evidence = {
    sender: orgId === undefined ? "alertmanager" : "grafana",
    firing: firing.length,
    resolved: resolved.length,
    truncated: truncatedAlerts,
    ...(externalURL !== undefined && { externalURL: boundedText(externalURL, TITLE_MAX_BYTES) }),
  };
  const alerts: object[] = [];
  let left = EVIDENCE_MAX_BYTES - jsonBytes(evidence);
  for (const alert of [...firing, ...resolved]) {
    const { status, labels, annotations = {}, startsAt, generatorURL } = alert;
    const shown = {
      status,
      labels: cleanTexts(labels),
      annotations: cleanTexts(annotations),
      ...(startsAt !== undefined && { startsAt }),
      ...(generatorURL !== undefined && { generatorURL }),
    };
    left -= jsonBytes(shown) + 1;
    if (left < 0) break;
    alerts.push(shown);
  }
  return { ...evidence, alerts };
}

/** The labels by which a sender without groups knows an alert. */
function keyOf({ fingerprint, labels }: GroupedAlert): string {
  if (fingerprint !== undefined && fingerprint !== "") return fingerprint;
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}

/** Null for what is no time, or none that anybody meant: senders write the year 1 for one that is not known. */
function timeOf(text: string | undefined, nowMs: number): number | null {
  const atMs = Date.parse(text ?? "");
  return Number.isNaN(atMs) || atMs < nowMs - DATED_BACK_MAX_MS ? null : Math.min(atMs, nowMs);
}
