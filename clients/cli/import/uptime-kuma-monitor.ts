import { parseJsonOrUndefined } from "../../api/json.ts";
import type { ForeignRecord } from "./foreign-record.ts";
import type { Imported } from "./imported.ts";
import {
  basicAuthorization,
  Channels,
  headersOf,
  hostAndPort,
  intervalOf,
  tagsOf,
  within,
} from "./monitor-terms.ts";
import type { KumaChannel } from "./uptime-kuma-channels.ts";

interface Around {
  readonly tags: readonly string[];
  readonly channels: readonly KumaChannel[];
  /** The name of the group that it is in. */
  readonly parent: string | null;
  /** Hosts whose certificates are watched already. */
  readonly certificates: Set<string>;
}

const KIND = "monitors";
/** What is Uptime Kuma's own, or the last thing that it found. */
const OWN = [
  ...["id", "user_id", "weight", "created_date", "dns_last_result", "http_body_encoding", "packet_size"],
  ...["expected_value", "json_path_operator", "gamedig_given_port_only", "push_token", "conditions"],
  ...["database_query", "path_name", "path", "cache_bust", "save_response", "save_error_response"],
  ...["response_max_length", "domain_expiry_notification", "ping_count", "ping_numeric"],
  ...[
    "ping_per_request_timeout",
    "ws_ignore_sec_websocket_accept_header",
    "retry_only_on_status_code_failure",
  ],
];
const PAGES: ReadonlySet<string> = new Set(["http", "keyword", "json-query"]);
/** Servers that are not asked anything but whether they listen. */
const LISTENERS: Readonly<Record<string, number>> = {
  ...{ postgres: 5432, postgresql: 5432, mysql: 3306, mariadb: 3306, redis: 6379, rediss: 6379 },
  ...{ mongodb: 27_017, mssql: 1433, mqtt: 1883, mqtts: 8883 },
};

/** Makes a monitor of a row of the table of monitors; its key, or null where it cannot be one, which is said. */
export function addKumaMonitor(row: ForeignRecord, imported: Imported, around: Around): string | null {
  const name = row.text("name") ?? "monitor";
  const type = row.text("type") ?? "";
  const notes: string[] = [];
  const leaveOut = (why: string): null => {
    imported.leaveOut(KIND, `${name}, of the type ${type}: ${why}`);
    return null;
  };
  if (type === "group") return leaveOut("its members carry its name as a tag");
  if (row.flag("upside_down")) return leaveOut("it is upside down: it would tell of what is well");
  const key = imported.keyFor(KIND, name);
  const target = targetOf(row, type, key, imported, notes);
  if (target === null) return leaveOut("there is no such check");
  const intervalSec = row.number("interval") ?? 60;
  const fields = {
    ...{ name, ...target, intervalSec: intervalOf(intervalSec, notes) },
    timeoutMs: timeoutOf(row, intervalSec, notes),
    ...retriesOf(row, intervalSec, notes),
    paused: row.flag("active", true) ? null : true,
    tags: tagsOf([...around.tags, around.parent]),
    ...channelsOf(around.channels, key, imported, notes),
  };
  row.pass(...OWN, "parent");
  // Columns of pages have values in every row.
  if (!PAGES.has(type)) row.pass("maxredirects", "accepted_statuscodes_json", "method");
  const watchesCertificate = row.flag("expiry_notification") && target.url.startsWith("https:");
  if (row.has("description")) notes.push(`the description: ${row.text("description")}`);
  for (const column of row.unread()) notes.push(column);
  imported.add(KIND, key, { ...fields, tags: fields.tags.length > 0 ? fields.tags : null }, notes);
  if (watchesCertificate) watchCertificate(target.url, fields, imported, around.certificates);
  return key;
}

interface Target {
  readonly type: string;
  readonly url: string;
  readonly [field: string]: unknown;
}

function targetOf(
  row: ForeignRecord,
  type: string,
  key: string,
  imported: Imported,
  notes: string[],
): Target | null {
  const host = row.text("hostname");
  const port = row.number("port");
  switch (type) {
    case "http":
    case "keyword":
    case "json-query":
      return pageOf(row, type, key, imported, notes);
    case "real-browser": {
      const url = row.text("url");
      return url === null ? null : { type: "browser", url };
    }
    case "port":
      return host === null || port === null ? null : { type: "port", url: host, port };
    case "ping":
    case "tailscale-ping":
      return host === null ? null : { type: "ping", url: host };
    case "smtp":
      return host === null ? null : { type: "smtp", url: port === null ? host : `${host}:${port}` };
    case "dns": {
      const server = row.text("dns_resolve_server");
      // It has a default of its own, which is not what it asks of most.
      row.pass("port");
      const question = `${server === null ? "" : `//${server.split(",")[0]?.trim()}/`}${host}?type=${row.text("dns_resolve_type") ?? "A"}`;
      return host === null ? null : { type: "dns", url: `dns:${question}` };
    }
    case "push":
      notes.push("its address: senders need the one that the server gives to this monitor");
      return { type: "heartbeat", url: key, heartbeatGraceSec: 60 };
    default:
      return listenerOf(row, type, notes);
  }
}

/** A database or broker is asked whether it listens, and nothing more. */
function listenerOf(row: ForeignRecord, type: string, notes: string[]): Target | null {
  const named = row.text("hostname");
  const scheme = type === "sqlserver" ? "mssql" : type;
  if (!Object.hasOwn(LISTENERS, scheme)) return null;
  const text = row.text("database_connection_string");
  // `Server=host,1433;Database=...` is how the driver of SQL Server writes it.
  const [, server, serverPort] =
    /(?:^|;)\s*(?:server|data source)\s*=\s*(?:tcp:)?([^,;]+)(?:,(\d+))?/i.exec(text ?? "") ?? [];
  const found =
    server === undefined
      ? hostAndPort(text ?? `${scheme}://${named ?? ""}`, LISTENERS)
      : { host: server, port: Number(serverPort ?? 1433) };
  const port = row.number("port");
  if (found === null) return null;
  notes.push(`what it asks of ${type}: it is checked that it listens`);
  for (const column of row.unread().filter((each) => /^(mqtt|database)_/.test(each))) row.pass(column);
  return { type: "port", url: found.host.replace(/^\w+:\/\//, ""), port: port ?? found.port };
}

function pageOf(
  row: ForeignRecord,
  type: string,
  key: string,
  imported: Imported,
  notes: string[],
): Target | null {
  const url = row.text("url");
  if (url === null || URL.parse(url) === null) return null;
  const entries = Object.entries(headersIn(row.text("headers"), notes));
  const method = row.text("auth_method");
  const [user, password] = [row.text("basic_auth_user"), row.text("basic_auth_pass")];
  if (user !== null && (method === null || method === "basic"))
    entries.push(["Authorization", basicAuthorization(user, password ?? "")]);
  else if (method !== null && method !== "basic") notes.push(`signing in by ${method}`);
  const body = row.text("body");
  const request = {
    method: row.text("method") ?? "GET",
    headers: headersOf(entries, key, imported),
    body: body === null ? null : imported.secret(`${key}-body`, body),
  };
  const redirects = row.number("maxredirects");
  const options = {
    ...request,
    method: request.method === "GET" ? null : request.method,
    followRedirects: redirects === 0 ? false : null,
    tlsSkipVerify: row.flag("ignore_tls") ? true : null,
    expectedStatusCode: statusOf(row.text("accepted_statuscodes_json"), notes),
  };
  if (type === "http") return { type: url.startsWith("https:") ? "https" : "http", url, ...options };
  if (type === "keyword") {
    const keywordMatchType = row.flag("invert_keyword") ? "not_contains" : "contains";
    return { type, url, ...options, keyword: row.text("keyword"), keywordMatchType };
  }
  if (options.tlsSkipVerify !== null) notes.push("ignore_tls");
  const [path, value] = [row.text("json_path") ?? "", row.text("expected_value")];
  if (!/^\$?[\w.[\]]*$/.test(path))
    notes.push(`the JSON query ${path}: a path of names joined by dots is needed`);
  const comparison = COMPARISONS[row.text("json_path_operator") ?? "=="] ?? "eq";
  const assertion = { source: "body_json", path, comparison, ...(value !== null && { value }) };
  const { headers, body: sent } = request;
  const step = {
    ...{ name: "Request", method: request.method, url },
    ...(headers !== null && { headers }),
    ...(sent !== null && { body: sent }),
    assertions: [{ source: "status_code", comparison: "lt", value: 400 }, assertion],
  };
  return { type: "multi_step", url, steps: [step] };
}

const COMPARISONS: Readonly<Record<string, string>> = {
  ...{ "==": "eq", "!=": "ne", ">": "gt", "<": "lt", contains: "contains" },
};

function headersIn(text: string | null, notes: string[]): Record<string, string> {
  if (text === null) return {};
  const value = parseJsonOrUndefined(text);
  if (typeof value !== "object" || value === null) {
    notes.push("the headers, which are no JSON");
    return {};
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)]));
}

/** One status where one is asked for; what is usual needs none. */
function statusOf(text: string | null, notes: string[]): number | null {
  const value = parseJsonOrUndefined(text ?? "");
  const codes = Array.isArray(value) ? value.map(String) : [];
  const [code = "200-299", ...others] = codes;
  if (others.length === 0 && /^\d{3}$/.test(code)) return Number(code);
  const isUsual = codes.every((each) => each === "200-299" || each === "300-399");
  if (!isUsual) notes.push(`the statuses ${codes.join(", ")}; 200 to 399 are fine`);
  return null;
}

function timeoutOf(row: ForeignRecord, intervalSec: number, notes: string[]): number {
  const seconds = row.number("timeout") ?? 0;
  // Where it says none, it waits for four fifths of the interval; with that nobody has chosen the number.
  if (seconds <= 0) return within(intervalSec * 800, [1000, 30_000], "a time limit", []);
  return within(seconds * 1000, [1000, 30_000], "a time limit", notes);
}

function retriesOf(row: ForeignRecord, intervalSec: number, notes: string[]) {
  const retries = row.number("maxretries") ?? 0;
  const retrySec = row.number("retry_interval") ?? 0;
  const every = row.number("resend_interval") ?? 0;
  return {
    alertThreshold: within(retries + 1, [1, 10], "a number of failures", notes),
    retryIntervalSec:
      retries > 0 && retrySec > 0 && retrySec !== intervalSec
        ? within(retrySec, [5, 3600], "an interval of retries", notes)
        : null,
    remindEverySec:
      every > 0 ? within(every * intervalSec, [60, 604_800], "an interval of reminders", notes) : null,
  };
}

function channelsOf(
  channels: readonly KumaChannel[],
  key: string,
  imported: Imported,
  notes: string[],
): Record<string, unknown> {
  const taken = new Channels(key, imported);
  for (const { name, isActive, fields, problem } of channels) {
    if (!isActive) notes.push(`the notification ${name}: it is switched off`);
    else if (problem !== null) notes.push(problem);
    else if (!fields.every(([channel, value]) => taken.set(channel, value)))
      notes.push(`the notification ${name}: there is another of its type`);
  }
  return taken.fields;
}

/** A page whose certificate was watched, too, has a monitor for it, one for each host. */
function watchCertificate(
  url: string,
  { name, ...settings }: Readonly<Record<string, unknown>> & { readonly name: string },
  imported: Imported,
  watched: Set<string>,
): void {
  const host = URL.parse(url)?.host ?? "";
  if (host === "" || watched.has(host)) return;
  watched.add(host);
  const channels = Object.entries(settings).filter(
    ([field]) => field.startsWith("alert") && field !== "alertThreshold",
  );
  const fields = {
    ...{ name: `Certificate of ${host}`, type: "ssl", url: host, intervalSec: 3600, timeoutMs: 10_000 },
    ...{ expiryWarnDays: 21, paused: settings.paused, ...Object.fromEntries(channels) },
  };
  imported.add(KIND, imported.keyFor(KIND, `certificate-${host}`), fields, []);
}
