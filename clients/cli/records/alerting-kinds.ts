import type { ApiClient } from "../../api/client.ts";
import type { JsonRecord } from "../../api/json.ts";
import { readPages } from "../../api/page.ts";
import { UsageError } from "../cli-error.ts";
import { INCIDENTS_PAGE } from "../limits.ts";
import { RULE_KINDS, recordNumber, ruleOf, timeAhead } from "./record-ids.ts";
import { type ActionOptions, itemsOf, type RecordKind, wholeList } from "./record-kind.ts";

const INCIDENT_STATES = ["open", "investigating", "identified", "monitoring", "resolved"] as const;
const ID = { header: "id", at: "id", isRigid: true } as const;
const NAME = { header: "name", at: "name" } as const;
const FOR = {
  ...{ flags: "--for <time>", about: "how long: 2h, 3d, or a date-time at which it ends" },
  isNeeded: true,
} as const;
const REASON = { flags: "--reason <text>", about: "why, for who looks at it later" } as const;

/** The parts of a silence that are said by options. */
function silenceTerms({ for: ends = "", reason }: ActionOptions, nowMs: number) {
  return { endsAt: timeAhead(ends, nowMs), ...(reason !== undefined && { reason }) };
}

const monitors: RecordKind = {
  command: "monitors",
  about: "what is checked from outside, and how it is",
  columns: [
    ...[ID, NAME, { header: "type", at: "type", isRigid: true }],
    { header: "state", at: "confirmedStatus", isRigid: true },
    { header: "paused", at: "paused", isRigid: true },
    { header: "every", at: "intervalSec", isRigid: true, isNumber: true },
    { header: "last check", at: "lastCheckedAt", isRigid: true },
    { header: "tags", at: "tags" },
    { header: "url", at: "url" },
  ],
  filters: [{ name: "tag", about: "only those with this tag" }],
  list: (api, { tag }) =>
    wholeList(api.call("GET /api/v1/monitors", { query: tag === undefined ? {} : { tag: [tag] } })),
  show: (api, id) => api.call("GET /api/v1/monitors/:id", { params: { id: recordNumber(id) } }),
  actions: [
    { name: "pause", about: "check it no more until it is resumed", run: pausing(true) },
    { name: "resume", about: "check it again", run: pausing(false) },
    {
      name: "test",
      about: "send a test message through each of its channels",
      run: async ({ api }, id) => {
        await api.call("POST /api/v1/monitors/:id/test-alert", { params: { id: recordNumber(id) } });
        return `a test message of monitor ${id} is on its way`;
      },
    },
    {
      name: "silence",
      about: "tell nobody of it for a time",
      options: [FOR, REASON],
      run: async ({ api, nowMs }, id, options) => {
        const body = { monitorId: recordNumber(id), ...silenceTerms(options, nowMs) };
        const silence = await api.call("POST /api/v1/silences", { body });
        return `silence ${silence.id} of monitor ${id} ends at ${silence.endsAt}`;
      },
    },
  ],
};

function pausing(paused: boolean): NonNullable<RecordKind["actions"]>[number]["run"] {
  return async ({ api }, id) => {
    await api.call("PATCH /api/v1/monitors/:id", { params: { id: recordNumber(id) }, body: { paused } });
    return `monitor ${id} is ${paused ? "paused" : "checked again"}`;
  };
}

const incidents: RecordKind = {
  command: "incidents",
  about: "what is or was wrong",
  columns: [
    ...[ID, { header: "severity", at: "severity", isRigid: true }],
    { header: "status", at: "status", isRigid: true },
    { header: "opened", at: "openedAt", isRigid: true },
    { header: "acknowledged", at: "acknowledgedAt", isRigid: true },
    { header: "title", at: "title" },
  ],
  filters: [
    { name: "status", about: "only those in it; open is all but resolved", choices: INCIDENT_STATES },
  ],
  list: incidentPages,
  show: (api, id) => api.call("GET /api/v1/incidents/:id", { params: { id: recordNumber(id) } }),
  actions: [
    {
      name: "ack",
      about: "say that you look after it: nobody else is paged",
      run: async ({ api }, id) => {
        await api.call("POST /api/v1/incidents/:id/acknowledge", { params: { id: recordNumber(id) } });
        return `incident ${id} is acknowledged`;
      },
    },
    {
      name: "resolve",
      about: "say that it is over",
      run: async ({ api }, id) => {
        await api.call("POST /api/v1/incidents/:id/resolve", { params: { id: recordNumber(id) } });
        return `incident ${id} is resolved`;
      },
    },
    {
      name: "note",
      about: "add an update",
      argument: "text",
      run: async ({ api }, id, { text = "" }) => {
        const params = { id: recordNumber(id) };
        const { status } = await api.call("GET /api/v1/incidents/:id", { params });
        await api.call("POST /api/v1/incidents/:id/updates", { params, body: { status, body: text } });
        return `incident ${id} has the update`;
      },
    },
    {
      name: "silence",
      about: "tell nobody for a time of what it is about: its monitor, or its rule and group",
      options: [FOR, REASON],
      run: async ({ api, nowMs }, id, options) => {
        const incident = await api.call("GET /api/v1/incidents/:id", { params: { id: recordNumber(id) } });
        const silence = await api.call("POST /api/v1/silences", {
          body: { ...subjectOf(incident), ...silenceTerms(options, nowMs) },
        });
        return `silence ${silence.id} of what incident ${id} is about ends at ${silence.endsAt}`;
      },
    },
  ],
};

/** Pages by offset, which this route has instead of cursors. */
async function* incidentPages(
  api: ApiClient,
  { status }: ActionOptions,
): AsyncGenerator<readonly JsonRecord[]> {
  const wanted = INCIDENT_STATES.find((each) => each === status);
  const only = { limit: String(INCIDENTS_PAGE), ...(wanted !== undefined && { status: wanted }) };
  for (let offset = 0; ; offset += INCIDENTS_PAGE) {
    const query = { ...only, offset: String(offset) };
    const { items, total } = await api.call("GET /api/v1/incidents", { query });
    yield items;
    if (items.length === 0 || offset + items.length >= total) return;
  }
}

/** What a silence of an incident covers. */
function subjectOf({ ruleKind, ruleId, groupKey, monitorIds }: IncidentSubject) {
  if (ruleKind !== undefined && ruleId !== undefined) {
    // A field that the entries of the group do not have cannot be named.
    const named = Object.entries(groupKey ?? {}).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    );
    const isGroup = named.length > 0;
    return { ruleKind, ruleId, ...(isGroup && { groupKey: Object.fromEntries(named) }) };
  }
  const [monitorId] = monitorIds;
  if (monitorId === undefined || monitorIds.length > 1)
    throw new UsageError("a person opened it, or it is of several monitors: silence monitors or rules");
  return { monitorId };
}

type IncidentSubject = Pick<
  Awaited<ReturnType<typeof readIncident>>,
  "ruleKind" | "ruleId" | "groupKey" | "monitorIds"
>;
const readIncident = (api: ApiClient, id: number) =>
  api.call("GET /api/v1/incidents/:id", { params: { id } });

const alerts: RecordKind = {
  command: "alerts",
  about: "rules that tell of entries and metrics, of all kinds",
  columns: [
    ...[ID, NAME, { header: "severity", at: "severity", isRigid: true }],
    { header: "enabled", at: "enabled", isRigid: true },
    { header: "state", at: "state", isRigid: true },
    { header: "looked at", at: "evaluatedAt", isRigid: true },
    { header: "error", at: "lastError" },
  ],
  filters: [{ name: "kind", about: "only these", choices: RULE_KINDS }],
  list: allRules,
  show: async (api, text) => {
    const { kind, id } = ruleOf(text);
    const params = { id };
    if (kind === "log") return api.call("GET /api/v1/log-alerts/:id", { params });
    if (kind === "metric") return api.call("GET /api/v1/metric-alerts/:id", { params });
    return api.call("GET /api/v1/correlation-rules/:id", { params });
  },
  actions: [
    { name: "pause", about: "switch it off", run: enabling(false) },
    { name: "resume", about: "switch it on", run: enabling(true) },
    {
      name: "silence",
      about: "tell nobody of what it finds for a time",
      options: [FOR, REASON],
      run: async ({ api, nowMs }, text, options) => {
        const { kind, id } = ruleOf(text);
        const body = { ruleKind: kind, ruleId: id, ...silenceTerms(options, nowMs) };
        const silence = await api.call("POST /api/v1/silences", { body });
        return `silence ${silence.id} of ${text} ends at ${silence.endsAt}`;
      },
    },
  ],
};

/** Rules of each kind that the token may read; of one kind where one is asked for. */
async function* allRules(api: ApiClient, { kind }: ActionOptions): AsyncGenerator<readonly JsonRecord[]> {
  const named = (name: string, rules: readonly JsonRecord[]): JsonRecord[] =>
    rules.map((rule) => ({ ...rule, id: `${name}:${String(rule.id)}` }));
  if (kind === undefined || kind === "log") yield named("log", await api.call("GET /api/v1/log-alerts"));
  if (kind === undefined || kind === "metric")
    yield named("metric", await api.call("GET /api/v1/metric-alerts"));
  if (kind === undefined || kind === "correlation")
    yield named("correlation", await api.call("GET /api/v1/correlation-rules"));
}

function enabling(enabled: boolean): NonNullable<RecordKind["actions"]>[number]["run"] {
  return async ({ api }, text) => {
    const { kind, id } = ruleOf(text);
    const input = { params: { id }, body: { enabled } };
    if (kind === "log") await api.call("PATCH /api/v1/log-alerts/:id", input);
    else if (kind === "metric") await api.call("PATCH /api/v1/metric-alerts/:id", input);
    else await api.call("PATCH /api/v1/correlation-rules/:id", input);
    return `${text} is switched ${enabled ? "on" : "off"}`;
  };
}

const silences: RecordKind = {
  command: "silences",
  about: "times in which nobody is told of something",
  columns: [
    ...[ID, { header: "begins", at: "startsAt", isRigid: true }],
    { header: "ends", at: "endsAt", isRigid: true },
    { header: "monitor", at: "monitorId", isRigid: true },
    { header: "rule", at: "ruleKind", isRigid: true },
    { header: "of id", at: "ruleId", isRigid: true },
    { header: "group", at: "groupKey" },
    { header: "reason", at: "reason" },
  ],
  list: (api) => wholeList(api.call("GET /api/v1/silences")),
  show: (api, id) => api.call("GET /api/v1/silences/:id", { params: { id: recordNumber(id) } }),
  actions: [
    {
      name: "end",
      about: "tell of it again from now on",
      run: async ({ api }, id) => {
        await api.call("DELETE /api/v1/silences/:id", { params: { id: recordNumber(id) } });
        return `silence ${id} is over`;
      },
    },
  ],
};

const maintenance: RecordKind = {
  command: "maintenance",
  about: "windows in which checks count for nothing",
  columns: [
    ...[ID, { header: "begins", at: "startsAt", isRigid: true }],
    { header: "ends", at: "endsAt", isRigid: true },
    { header: "monitor", at: "monitorId", isRigid: true },
    { header: "title", at: "title" },
  ],
  list: (api) => wholeList(api.call("GET /api/v1/maintenance-windows")),
};

const detections: RecordKind = {
  command: "detections",
  about: "what rules have found, told or not",
  columns: [
    ...[ID, { header: "rule", at: "ruleKind", isRigid: true }],
    { header: "of id", at: "ruleId", isRigid: true },
    { header: "began", at: "startedAt", isRigid: true },
    { header: "ended", at: "endedAt", isRigid: true },
    { header: "peak", at: "peak", isRigid: true, isNumber: true },
    { header: "told", at: "isTold", isRigid: true },
    { header: "group", at: "group" },
  ],
  filters: [{ name: "rule", about: "only of this rule: log:3, metric:4, correlation:5" }],
  list: (api, { rule }) => {
    const only = rule === undefined ? {} : { ruleKind: ruleOf(rule).kind, ruleId: ruleOf(rule).id };
    return itemsOf(readPages(api, "GET /api/v1/detections", (cursor) => ({ query: { ...only, ...cursor } })));
  },
};

export const ALERTING_KINDS: readonly RecordKind[] = [
  ...[monitors, incidents, alerts, detections, silences, maintenance],
];
