/** When an operation is the right one, by its id: those that a person or an assistant needs first. */
export const CORE_TOOLS: Readonly<Record<string, string>> = {
  getLogsSearch:
    "Use when you look for log entries by words, service, level or time: what a service logged, an error message, a request id.",
  postLogsQuery:
    "Use when you count, group or compare entries: errors by service, p95 of an attribute, anything that needs KQL.",
  getLogsPatterns:
    "Use when you want to know which kinds of messages there are, which are most frequent and which are new.",
  getLogsHistogram: "Use when you ask when something happened: entries over time, by level or service.",
  getLogsFields: "Use before a query, to learn which attributes entries have.",
  getIncidents: "Use when you ask what is wrong now or what was wrong: open incidents and past ones.",
  getIncidentsById: "Use when you want one incident with its timeline and evidence.",
  getIncidentsByIdAnalysis:
    "Use when you ask what changed when an incident began: patterns, monitors, configuration, regions.",
  getMonitors: "Use when you ask what is watched and whether it is up.",
  getMonitorsByIdStats: "Use when you ask how available or how fast a monitor was.",
  getLogErrors: "Use when you ask which errors there are, grouped as faults, new or regressed.",
  getMetricsNames: "Use before a series, to learn which metrics there are.",
  getMetricsSeries: "Use when you ask how a number went over time.",
  getLogAlerts: "Use when you ask which alert rules there are and how each is.",
  postLogAlertsPreview: "Use before an alert is made or tuned: what it would have told, and how often.",
  getCases: "Use when you ask what is being investigated.",
  getContextLookup: "Use when you ask what is known of an address, host, service or person.",
  getOnCallSchedules:
    "Use when you ask which on-call schedules there are; reading one says who is on call now.",
  postIncidentsByIdAcknowledge: "Use when somebody takes an incident on.",
  postIncidentsByIdUpdates: "Use to write down what was found or done.",
  postIncidentsByIdResolve: "Use when an incident is over.",
  postCasesByIdNotes: "Use to write down what an investigation found.",
  postMaintenanceWindows: "Use before planned work, so that nobody is paged for it.",
};

/** The same of further operations, where what they are called does not say it. */
export const OTHER_TOOLS: Readonly<Record<string, string>> = {};
