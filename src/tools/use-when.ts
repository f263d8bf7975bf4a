/** When an operation is the right one, by its id: those that a person or an assistant needs first. */
export const CORE_TOOLS: Readonly<Record<string, string>> = {
  getLogsSearch:
    "Use when you look for log entries by words, service, level or time: what a service logged, the lines with an error message or a request id.",
  postLogsQuery:
    "Use when you count, group or compare log entries: how many errors by service in the last hour, p95 of an attribute, anything that needs KQL.",
  getLogsPatterns:
    "Use when you want to know which kinds of messages there are, which are most frequent and which are new.",
  getLogsHistogram:
    "Use when you ask when something happened, started or stopped: a chart or rate of log entries or errors over time, per minute, by level or service.",
  getLogsFields: "Use before a query, to learn which attributes there are.",
  getIncidents: "Use when you ask what is wrong now or what was wrong: open incidents and past ones.",
  getIncidentsById: "Use when you want everything about one incident: timeline, updates, evidence.",
  getIncidentsByIdAnalysis:
    "Use when you ask what changed when an incident began: patterns, monitors, configuration, regions.",
  getMonitors: "Use when you ask what is watched and whether a site, service or port is up or down.",
  getMonitorsByIdStats: "Use when you ask how available or how fast a monitor was.",
  getLogErrors:
    "Use when you ask which errors and exceptions there are, grouped as faults, new or regressed.",
  getMetricsNames: "Use before a series, to learn which metrics there are.",
  getMetricsSeries:
    "Use when you ask how a number went or developed over time: memory, requests, latency, usage.",
  getLogAlerts: "Use when you ask which alert rules there are and how each is.",
  postLogAlertsPreview:
    "Use before an alert is made or tuned: what it would have told, how often it would have fired.",
  getCases: "Use when you ask which investigations there are and what is being investigated.",
  getContextLookup:
    "Use when you ask what we know about an address, IP, domain, hash, host, service or person.",
  getOnCallSchedules:
    "Use when you ask which on-call schedules there are; reading one says who is on call now.",
  postIncidentsByIdAcknowledge: "Use when somebody takes an incident on, so that nobody else is paged.",
  postIncidentsByIdUpdates: "Use to tell how an incident goes: what was found or done.",
  postIncidentsByIdResolve: "Use to close an incident that is over or fixed.",
  postCasesByIdNotes: "Use to write down what an investigation found.",
  postMaintenanceWindows:
    "Use before planned work or a deployment, to silence alerts and pages while it lasts.",
};

/** The same of further operations, where what they are called does not say it. */
export const OTHER_TOOLS: Readonly<Record<string, string>> = {
  getLogsByIdContext: "Use when you want the lines before and after a log entry.",
  getLogsFacets: "Use when you ask which values a field has and which are most frequent.",
  getLogsArchive: "Use to search entries that are older than the retention of the log store.",
  getKqlCapabilities: "Use before you write KQL, to learn which functions and operators KQL has.",
  getKqlFunctions: "Those that the organisation has defined itself.",
  postIngestRules:
    "Use to mask or hide secrets and personal data in log entries, or to drop noise, before they are stored.",
  getIngestQuarantine: "Use when you ask why records of a sender or webhook were rejected and are missing.",
  getLogErrorsById: "Use when you want one exception with its stack trace.",
  postLogErrorsByIdMerge: "Use when two groups are duplicates: the same exception.",
  patchLogErrorsById: "Use to mark an error as fixed, or to mute it.",
  postLogAlerts: "Use to be alerted or notified when log entries match.",
  patchLogAlertsById: "Use to tune a rule: raise or lower its threshold, change its window, turn it off.",
  postMetricAlerts: "Use to be alerted when a number passes a limit.",
  postMonitors: "Use to watch a new URL, site, host, port, certificate or job, every minute or so.",
  patchMonitorsById: "Use to pause a check, or to change how often and what it asks.",
  getMonitorsByIdChecks: "Use when you ask for results: which checks failed, when and why.",
  getMonitorsStatsBatch: "Use when you ask for the uptime of several monitors, or of all, at once.",
  postStatusPages: "Use to publish to customers what is up.",
  getIncidentsByIdDeliveries:
    "Use when you ask who was notified or paged about an incident, and whether it arrived.",
  putIncidentsByIdPostmortem: "Use for the review behind an incident: cause and lessons.",
  postIncidents: "Use to declare an outage.",
  getOnCallCoverage: "Use when you ask for gaps in the schedule.",
  patchOnCallSchedulesByIdRotationsByRotation: "Use to swap a shift, or when somebody is ill.",
  postEscalationPolicies: "Use to say to whom an unanswered incident escalates, and after how many minutes.",
  postCases: "Use to open or start an investigation.",
  postCasesByIdEvidence: "Use to attach a log entry, detection or incident as proof.",
  postCasesByIdMerge: "Use when two investigations are one.",
  getContextEntityByIdNeighbors:
    "Use when you ask what else a host, address or account talked to, touched or was seen with.",
  getAssets: "Use when you ask which hosts and machines are yours, who owns them and how critical each is.",
  getIdentities: "Use when you ask about accounts of people and services: privileged or not, and their risk.",
  postIocs: "Use to block-list an IP address, domain or hash: an indicator of compromise to look for.",
  getIocs: "Use when you ask which indicators of compromise are looked for, and which were hit.",
  getIocsFeeds: "Use when you ask from where threat intelligence is pulled.",
  postIocsFeeds: "Use to add or pull a source of threat intelligence.",
  postIocsAllowList: "Use to keep an address or domain from being reported.",
  getCorrelationRules:
    "Use when you ask which detections look at several events: sequences, brute force, first seen.",
  postCorrelationRulesPreview: "Use to ask whether a sequence would have found an attack.",
  getAiAgentsOverview: "Use when you ask for tokens and cost of AI agents and models.",
  getAiAgentsSecurity:
    "Use when you ask whether an AI agent leaked secrets, called too much, or followed injected instructions.",
  getAuditLogs: "Use when you ask who created, changed or deleted something, and when: yesterday, last week.",
  getAuditLogsVerify: "Use when you ask whether the audit log was tampered with.",
  getMe: "Use when you ask as whom you are signed in.",
};
