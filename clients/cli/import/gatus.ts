import { readFile, stat } from "node:fs/promises";
import { isRecord } from "../../api/json.ts";
import { CliError } from "../cli-error.ts";
import { placedError, yamlFiles } from "../configuration/read-folder.ts";
import { readYaml } from "../configuration/yaml-file.ts";
import { CONFIG_FILE_MAX_BYTES } from "../limits.ts";
import { ForeignRecord } from "./foreign-record.ts";
import { gatusChannels } from "./gatus-channels.ts";
import { durationMs, readConditions } from "./gatus-conditions.ts";
import { Imported } from "./imported.ts";
import { headersOf, intervalOf, tagsOf, within } from "./monitor-terms.ts";

const KIND = "monitors";
/** How Gatus shows things, and what it keeps them in. */
const OWN = ["ui", "extra-labels", "web", "storage", "metrics", "debug", "security", "concurrency", "remote"];

/** Reads the configuration of Gatus, a file or the folder of several. Throws CliError for what is none, with its place. */
export async function readGatus(path: string): Promise<Imported> {
  const config = new ForeignRecord(await readConfig(path));
  const imported = new Imported();
  const alerting = config.record("alerting");
  const endpoints = config.records("endpoints");
  if (endpoints.length === 0 && !config.has("external-endpoints") && !config.has("services"))
    throw new CliError(`${path} is no configuration of Gatus: it has no endpoints`);
  for (const endpoint of [...endpoints, ...config.records("services")])
    addEndpoint(endpoint, alerting, imported);
  for (const external of config.records("external-endpoints")) addExternal(external, alerting, imported);
  config.pass(...OWN, "disable-monitoring-lock", "skip-invalid-config-update");
  for (const suite of config.records("suites"))
    imported.leaveOut(
      KIND,
      `the suite ${suite.text("name")}: a monitor of the type multi_step does the same`,
    );
  if (config.has("maintenance"))
    imported.leaveOut("maintenance-windows", "the daily maintenance: windows are single stretches of time");
  config.pass("maintenance");
  for (const part of config.unread()) imported.leaveOut(KIND, part);
  return imported;
}

async function readConfig(path: string): Promise<unknown> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => {
      throw new CliError(`${path} cannot be read`);
    },
  );
  const files = isFolder ? await yamlFiles(path) : [path];
  let config: unknown = {};
  for (const file of files) {
    if ((await stat(file)).size > CONFIG_FILE_MAX_BYTES)
      throw new CliError(`${file} is larger than ${CONFIG_FILE_MAX_BYTES / 1024} KiB`);
    const { value, problems } = readYaml(file, await readFile(file, "utf8"));
    if (problems.length > 0) throw placedError(problems);
    config = merged(config, value);
  }
  return config;
}

/** Of several files maps are put into each other and lists after each other. */
function merged(left: unknown, right: unknown): unknown {
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  if (!isRecord(left) || !isRecord(right)) return right ?? left;
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      name in left && name in right ? merged(left[name], right[name]) : (right[name] ?? left[name]),
    ]),
  );
}

interface Target {
  readonly type: string;
  readonly url: string;
  readonly port?: number;
  readonly keyword?: string;
}

function addEndpoint(endpoint: ForeignRecord, alerting: ForeignRecord, imported: Imported): void {
  const name = endpoint.text("name") ?? "endpoint";
  const url = endpoint.text("url") ?? "";
  const conditions = readConditions(endpoint.texts("conditions"));
  const target = targetOf(url, endpoint, conditions);
  if (target === null) {
    imported.leaveOut(KIND, `${name}, ${url}: there is no such check`);
    return;
  }
  const key = imported.keyFor(KIND, name);
  const notes: string[] = [];
  if (/\$\{?\w/.test(url)) notes.push(`the variables in ${url}: put their values there`);
  const client = endpoint.record("client");
  const isPage = target.type === "http" || target.type === "https";
  const page = isPage ? pageOf(endpoint, client, conditions, { key, url, imported, notes }) : {};
  const intervalSec = intervalOf((durationMs(endpoint.text("interval") ?? "60s") ?? 60_000) / 1000, notes);
  const timeoutMs = within(
    durationMs(client.text("timeout") ?? "10s") ?? 10_000,
    [1000, 30_000],
    "a time limit",
    notes,
  );
  const group = endpoint.text("group");
  const alerts = gatusChannels(endpoint.records("alerts"), alerting, key, imported, notes);
  const fields = {
    ...{
      name: group === null ? name : `${group}/${name}`,
      ...target,
      intervalSec,
      timeoutMs,
      ...page,
      ...alerts,
    },
    degradedResponseTimeMs: conditions.degradedResponseTimeMs,
    paused: endpoint.flag("enabled", true) ? null : true,
    tags: group === null ? null : tagsOf([group]),
  };
  endpoint.pass("ui", "extra-labels", "store", "always-run");
  if (!isPage && conditions.assertions.length > 0) notes.push("conditions on the body");
  for (const part of client.unread()) notes.push(`client.${part}`);
  for (const part of endpoint.unread()) notes.push(part);
  notes.push(...conditions.notes);
  imported.add(KIND, key, fields, notes);
  const host = URL.parse(url)?.host ?? "";
  if (conditions.expiryWarnDays === null || target.type === "ssl" || host === "") return;
  const certificate = {
    name: `Certificate of ${host}`,
    type: "ssl",
    url: host,
    intervalSec: 3600,
    timeoutMs,
  };
  imported.add(
    KIND,
    imported.keyFor(KIND, `certificate-${host}`),
    { ...certificate, expiryWarnDays: conditions.expiryWarnDays, ...alerts },
    [],
  );
}

/** What kind of check the address of an endpoint means. */
function targetOf(
  text: string,
  endpoint: ForeignRecord,
  conditions: ReturnType<typeof readConditions>,
): Target | null {
  if (endpoint.has("dns")) {
    const dns = endpoint.record("dns");
    const [name, type] = [dns.text("query-name") ?? "", dns.text("query-type") ?? "A"];
    const wanted = conditions.assertions.find(
      ({ source, comparison }) => source === "body_text" && comparison === "eq",
    );
    const keyword = typeof wanted?.value === "string" ? { keyword: wanted.value } : {};
    return { type: "dns", url: `dns://${text}/${name.replace(/\.$/, "")}?type=${type}`, ...keyword };
  }
  const url = URL.parse(text);
  const host = url?.hostname.replace(/^\[|\]$/g, "") ?? "";
  const port = Number(url?.port ?? "");
  switch (url?.protocol) {
    case "http:":
    case "https:":
      return { type: url.protocol.slice(0, -1), url: text };
    case "tcp:":
      return port > 0 ? { type: "port", url: host, port } : null;
    case "icmp:":
      return host === "" ? null : { type: "ping", url: host };
    case "tls:":
      return host === "" ? null : { type: "ssl", url: `${host}:${port || 443}` };
    case "starttls:":
      return host === "" ? null : { type: "smtp", url: `${host}:${port || 25}` };
    default:
      return null;
  }
}

interface Page {
  readonly key: string;
  readonly url: string;
  readonly imported: Imported;
  readonly notes: string[];
}

/** What is asked of a page, and how: with conditions on its body, several at once, as a step. */
function pageOf(
  endpoint: ForeignRecord,
  client: ForeignRecord,
  conditions: ReturnType<typeof readConditions>,
  { key, url, imported, notes }: Page,
): Record<string, unknown> {
  const method = (endpoint.text("method") ?? "GET").toUpperCase();
  const headers = headersOf(endpoint.entries("headers"), key, imported);
  const text = endpoint.text("body");
  const body =
    text === null
      ? null
      : imported.secret(`${key}-body`, endpoint.flag("graphql") ? JSON.stringify({ query: text }) : text);
  const [isInsecure, ignoresRedirect] = [client.flag("insecure"), client.flag("ignore-redirect")];
  const { expectedStatusCode, assertions, keyword, keywordMatchType } = conditions;
  if (assertions.length === 0) {
    const options = {
      ...{ method: method === "GET" ? null : method, headers, body, expectedStatusCode },
      followRedirects: ignoresRedirect ? false : null,
      tlsSkipVerify: isInsecure ? true : null,
    };
    return keyword === null ? options : { ...options, type: "keyword", keyword, keywordMatchType };
  }
  if (isInsecure) notes.push("client.insecure");
  if (ignoresRedirect) notes.push("client.ignore-redirect");
  const status =
    expectedStatusCode === null
      ? { comparison: "lt", value: 400 }
      : { comparison: "eq", value: expectedStatusCode };
  const step = {
    ...{ name: "Request", method, url },
    ...(headers !== null && { headers }),
    ...(body !== null && { body }),
    assertions: [
      { source: "status_code", ...status },
      ...(keyword === null ? [] : [{ source: "body_text", comparison: keywordMatchType, value: keyword }]),
      ...assertions,
    ],
  };
  return { type: "multi_step", steps: [step] };
}

/** What others tell Gatus is a heartbeat. */
function addExternal(external: ForeignRecord, alerting: ForeignRecord, imported: Imported): void {
  const name = external.text("name") ?? "endpoint";
  const every = durationMs(external.record("heartbeat").text("interval") ?? "");
  if (every === null || every === 0) {
    imported.leaveOut(KIND, `the external endpoint ${name}: it has no heartbeat`);
    return;
  }
  const notes = ["its token: senders need the address that the server gives to this monitor"];
  const key = imported.keyFor(KIND, name);
  const group = external.text("group");
  external.pass("token");
  const fields = {
    ...{ name: group === null ? name : `${group}/${name}`, type: "heartbeat", url: key, timeoutMs: 10_000 },
    intervalSec: intervalOf(every / 1000, notes),
    paused: external.flag("enabled", true) ? null : true,
    tags: group === null ? null : tagsOf([group]),
    ...gatusChannels(external.records("alerts"), alerting, key, imported, notes),
  };
  for (const part of external.unread()) notes.push(part);
  imported.add(KIND, key, fields, notes);
}
