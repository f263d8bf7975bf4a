import { FIELD_SOURCES } from "../fields/field-table.ts";
import { quoted } from "./kql-text.ts";

/** Of what a rule is about. */
export interface Logsource {
  readonly product: string | null;
  readonly category: string | null;
  readonly service: string | null;
}

/** Columns of an entry, which no attribute has the name of. */
const COLUMNS: ReadonlySet<string> = new Set(["message", "level", "service", "host", "source"]);

/** Names of Sigma that entries have under others, by product or category. */
const ALIASES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  process_creation: {
    Image: ["process.executable"],
    CommandLine: ["process.command_line"],
    ParentImage: ["process.parent.executable"],
    ParentCommandLine: ["process.parent.command_line"],
    User: ["user.name"],
    CurrentDirectory: ["process.working_directory"],
  },
  okta: {
    eventtype: ["eventType"],
    displaymessage: ["displayMessage"],
    "actor.alternateid": ["actor.alternateId"],
    "target.alternateid": ["target.alternateId"],
  },
  gcp: {
    "gcp.audit.method_name": ["protoPayload.methodName"],
    "gcp.audit.service_name": ["protoPayload.serviceName"],
    "data.protoPayload.methodName": ["protoPayload.methodName"],
  },
  webserver: web(),
  proxy: web(),
  dns: { query: ["dns.question.name", "QueryName"], record_type: ["dns.question.type", "qtype_name"] },
  firewall: {
    src_ip: ["source.ip", "SourceIp", "id.orig_h"],
    dst_ip: ["destination.ip", "DestinationIp", "id.resp_h"],
    src_port: ["source.port", "id.orig_p"],
    dst_port: ["destination.port", "id.resp_p"],
  },
};

function web(): Readonly<Record<string, readonly string[]>> {
  return {
    "cs-method": ["method", "request_method", "http.request.method"],
    "c-method": ["method", "request_method", "http.request.method"],
    "cs-uri": ["uri", "request_uri", "path", "url.original"],
    "c-uri": ["uri", "request_uri", "path", "url.original"],
    "cs-uri-stem": ["uri", "path", "url.path"],
    "cs-uri-query": ["query", "args", "request_uri", "url.query"],
    "c-uri-query": ["query", "args", "request_uri", "url.query"],
    "sc-status": ["status", "http.response.status_code"],
    "cs-referer": ["http_referer", "referer", "http.request.referrer"],
    "c-useragent": ["http_user_agent", "user_agent", "user_agent.original"],
    "cs-user-agent": ["http_user_agent", "user_agent", "user_agent.original"],
    "c-ip": ["remote_addr", "client_ip", "source.ip"],
    "cs-host": ["host", "http_host", "url.domain"],
  };
}

/** Numbers of the events of Sysmon, and of the log of security, that categories are about. Source: Sysmon, "Events". */
const EVENTS: Readonly<Record<string, readonly number[]>> = {
  process_creation: [1, 4688],
  file_change: [2],
  network_connection: [3, 5156],
  process_termination: [5, 4689],
  driver_load: [6],
  image_load: [7],
  create_remote_thread: [8],
  raw_access_thread: [9],
  process_access: [10],
  file_event: [11],
  registry_add: [12],
  registry_delete: [12],
  registry_set: [13],
  registry_rename: [14],
  registry_event: [12, 13, 14],
  create_stream_hash: [15],
  pipe_created: [17, 18],
  wmi_event: [19, 20, 21],
  dns_query: [22],
  file_delete: [23, 26],
  clipboard_change: [24],
  process_tampering: [25],
  ps_module: [4103],
  ps_script: [4104],
};

/** Logs of Windows by the names that Sigma gives them. */
const CHANNELS: Readonly<Record<string, string>> = {
  security: "Security",
  system: "System",
  application: "Application",
  sysmon: "Microsoft-Windows-Sysmon/Operational",
  powershell: "Microsoft-Windows-PowerShell/Operational",
  "powershell-classic": "Windows PowerShell",
  taskscheduler: "Microsoft-Windows-TaskScheduler/Operational",
  "dns-server": "DNS Server",
  ntlm: "Microsoft-Windows-NTLM/Operational",
  windefend: "Microsoft-Windows-Windows Defender/Operational",
  "firewall-as": "Microsoft-Windows-Windows Firewall With Advanced Security/Firewall",
  "bits-client": "Microsoft-Windows-Bits-Client/Operational",
  "terminalservices-localsessionmanager":
    "Microsoft-Windows-TerminalServices-LocalSessionManager/Operational",
  "codeintegrity-operational": "Microsoft-Windows-CodeIntegrity/Operational",
};

/** Where entries may have a field, as KQL reads each. */
export function placesOf(field: string, { product, category }: Logsource): string[] {
  return namesOf(field, product, category).map(placeOf);
}

/** A field by which entries are counted apart: where sources put it in several places, the logical field that is all of them. */
export function groupFieldOf(field: string, { product }: Logsource): string {
  if (product !== "windows") return field;
  return FIELD_SOURCES.find(({ aliases }) => aliases.some((alias) => alias === field))?.name ?? field;
}

/** The attributes that a field may stand under. */
export function namesOf(field: string, product: string | null, category: string | null): string[] {
  const others = [product, category].flatMap((key) => ALIASES[key ?? ""]?.[field] ?? []);
  if (product !== "windows") return [field, ...others];
  const own = field === "EventID" ? ["winlog.event_id"] : field === "Channel" ? ["winlog.channel"] : [];
  const provider = field === "Provider_Name" ? ["winlog.provider_name", "SourceName"] : [];
  return [field, ...own, ...provider, `winlog.event_data.${field}`, ...others];
}

/** What an entry is, beside what the rule asks of it; null where its fields say enough. */
export function sourceCondition({ product, category, service }: Logsource): string | null {
  if (product === "windows") {
    const conditions = [eventsOf(category), channelOf(service)].filter((each) => each !== null);
    return conditions.length === 0 ? null : conditions.join(" and ");
  }
  return null;
}

function eventsOf(category: string | null): string | null {
  const numbers = EVENTS[category ?? ""];
  if (numbers === undefined) return null;
  const texts = numbers.map((number) => `"${number}"`).join(", ");
  return `(${["tostring(attrs.EventID)", "tostring(attrs.winlog.event_id)"].map((place) => `${place} in (${texts})`).join(" or ")})`;
}

function channelOf(service: string | null): string | null {
  const channel = CHANNELS[service ?? ""];
  if (channel === undefined) return null;
  return `(source =~ ${quoted(channel)} or tostring(attrs.Channel) =~ ${quoted(channel)})`;
}

/** How KQL reads a field: `attrs.a.b`, wherever `a` ends and `b` begins, and `attrs["a b"]` where a name is not plain. */
function placeOf(name: string): string {
  if (COLUMNS.has(name)) return name;
  return name.split(".").every((part) => PLAIN_NAME.test(part)) ? `attrs.${name}` : `attrs[${quoted(name)}]`;
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
