import { type LineForm, matchAt, type TimedForm } from "../line-form.ts";
import { ATTRIBUTE, Reading } from "../reading.ts";
import { writeClient, writeRequest } from "./access-fields.ts";

/** A text in quotes, in which a quote stands behind a backslash. */
const QUOTED = `"((?:[^"\\\\]|\\\\.)*)"`;
/** Host, identity, user and the bracket of the time; some put the virtual host in front. */
const COMMON_START = /(?:(\S+:\d+) )?(\S+) (\S+) ([^[\]"]{1,256}) \[/y;
const COMMON_REST = new RegExp(`\\] ${QUOTED} (\\d{3}|-) (\\d+|-)(?: ${QUOTED} ${QUOTED})?`, "y");
/** What operators add behind the combined format: the time that it took in seconds, further texts in quotes. */
const COMMON_DURATION = /^ (?:rt=)?"?(\d+\.\d{3})"?(?= |$)/;
const ENVOY = new RegExp(
  ` ${QUOTED} (\\d{3}|0) (\\S+) (?:(\\S+) (\\S+) "([^"]*)" )?(\\d+) (\\d+) (\\d+|-) (\\d+|-) ` +
    `${QUOTED} ${QUOTED} ${QUOTED} ${QUOTED} ${QUOTED}`,
  "y",
);
const HAPROXY_START = /([^\s[\]]+:\d{1,5}) \[/y;
const HAPROXY_HTTP = new RegExp(
  `\\] (\\S+) ([^\\s/]+)/(\\S+) (-?\\d+)/(-?\\d+)/(-?\\d+)/(-?\\d+)/(\\+?-?\\d+) (-?\\d+) \\+?(\\d+) (\\S+) (\\S+) (\\S{4}) ` +
    `(\\d+/\\d+/\\d+/\\d+/\\+?\\d+) (\\d+/\\d+)(?: \\{([^}]*)\\})?(?: \\{([^}]*)\\})? ${QUOTED}$`,
  "y",
);
const HAPROXY_TCP =
  /\] (\S+) ([^\s/]+)\/(\S+) (-?\d+)\/(-?\d+)\/(\+?-?\d+) \+?(\d+) (\S{2}) (\d+\/\d+\/\d+\/\d+\/\+?\d+) (\d+\/\d+)$/y;
const BALANCER = new RegExp(
  `(?:http|https|h2|grpcs|ws|wss) (\\S+) (\\S+) (\\S+) (\\S+) (-?[\\d.]+) (-?[\\d.]+) (-?[\\d.]+) (\\d{3}|-) (\\d{3}|-) (\\d+) (\\d+) ${QUOTED} ${QUOTED} (\\S+) (\\S+) (\\S+) ${QUOTED}`,
  "y",
);
const ESCAPED_QUOTE = /\\"/g;
const MILLIS = 1000;

/** The common and the combined format of Apache, nginx and everybody else. */
const common: LineForm = {
  name: "access",
  read: (text, { clock }) => {
    const start = matchAt(COMMON_START, text, 0);
    if (start === null) return null;
    const time = clock.read(text, start[0].length);
    if (time === null) return null;
    const rest = matchAt(COMMON_REST, text, clock.stamp.end);
    if (rest === null) return null;
    const [whole, request = "", status, bytes, referer, agent] = rest;
    const [, virtualHost, client, identity, user] = start;
    const reading = new Reading("access", "");
    reading.time = time;
    writeRequest(reading, request, status);
    writeClient(reading, client);
    reading.set("client.identity", identity);
    reading.set(ATTRIBUTE.user, user);
    reading.setNumber(ATTRIBUTE.bytes, bytes);
    reading.set(ATTRIBUTE.referer, referer);
    reading.set(ATTRIBUTE.userAgent, agent?.replace(ESCAPED_QUOTE, '"'));
    writeServer(reading, virtualHost);
    const behind = text.slice(clock.stamp.end + whole.length);
    const duration = COMMON_DURATION.exec(behind);
    if (duration !== null) reading.setNumber(ATTRIBUTE.duration, duration[1]);
    reading.set("log.rest", (duration === null ? behind : behind.slice(duration[0].length)).trim());
    return reading;
  },
};

function writeServer(reading: Reading, virtualHost: string | undefined): void {
  if (virtualHost === undefined) return;
  const colon = virtualHost.lastIndexOf(":");
  reading.set(ATTRIBUTE.serverAddress, virtualHost.slice(0, colon));
  reading.setNumber(ATTRIBUTE.serverPort, virtualHost.slice(colon + 1));
}

/** Envoy's default format. */
export const ENVOY_FORM: TimedForm = {
  name: "envoy",
  read: (text, head) => {
    const match = matchAt(ENVOY, text, head.end);
    if (match === null) return null;
    const [whole, request = "", status, flags, details, ended, failure, ...measured] = match;
    const [requestBytes, bytes, millis, upstreamMillis, forwarded, agent, id, authority, upstream] = measured;
    const reading = new Reading("envoy", "");
    reading.time = head.instant;
    writeRequest(reading, request, status);
    reading.set("envoy.response_flags", flags);
    reading.set("envoy.response_code_details", details);
    reading.set("envoy.connection_termination_details", ended);
    reading.set("envoy.upstream_transport_failure_reason", failure);
    reading.setNumber(ATTRIBUTE.requestBytes, requestBytes);
    reading.setNumber(ATTRIBUTE.bytes, bytes);
    if (millis !== undefined && millis !== "-")
      reading.attributes.set(ATTRIBUTE.duration, Number(millis) / MILLIS);
    reading.setNumber("envoy.upstream_service_time", upstreamMillis);
    reading.set(ATTRIBUTE.clientAddress, forwarded);
    reading.set(ATTRIBUTE.userAgent, agent);
    reading.set(ATTRIBUTE.requestId, id);
    reading.set(ATTRIBUTE.serverAddress, authority);
    reading.set("envoy.upstream_host", upstream);
    reading.set("log.rest", text.slice(head.end + whole.length).trim());
    return reading;
  },
};

/** HAProxy's formats for HTTP and for TCP. */
const haproxy: LineForm = {
  name: "haproxy",
  read: (text, { clock }) => {
    const start = matchAt(HAPROXY_START, text, 0);
    if (start === null) return null;
    const time = clock.read(text, start[0].length);
    if (time === null) return null;
    const http = matchAt(HAPROXY_HTTP, text, clock.stamp.end);
    const tcp = http === null ? matchAt(HAPROXY_TCP, text, clock.stamp.end) : null;
    if (http === null && tcp === null) return null;
    const reading = new Reading("haproxy", text.slice(clock.stamp.end + 2));
    reading.time = time;
    writeClient(reading, start[1]);
    const [, frontend, backend, server] = http ?? tcp ?? [];
    reading.set("haproxy.frontend", frontend);
    reading.set("haproxy.backend", backend);
    reading.set("haproxy.server", server);
    if (http !== null) writeHttp(reading, http);
    else if (tcp !== null) writeTcp(reading, tcp);
    return reading;
  },
};

function writeHttp(reading: Reading, match: RegExpExecArray): void {
  const [
    ,
    ,
    ,
    ,
    asking,
    queued,
    connecting,
    answering,
    total,
    status,
    bytes,
    ,
    ,
    state,
    connections,
    queues,
  ] = match;
  writeRequest(reading, match[18] ?? "", status);
  reading.set("haproxy.timers", [asking, queued, connecting, answering, total].join("/"));
  writeTotal(reading, total);
  reading.setNumber(ATTRIBUTE.bytes, bytes);
  reading.set("haproxy.termination_state", state);
  reading.set("haproxy.connections", connections);
  reading.set("haproxy.queues", queues);
  reading.set("haproxy.request_cookie", match[11]);
  reading.set("haproxy.response_cookie", match[12]);
  reading.set("haproxy.request_headers", match[16]);
  reading.set("haproxy.response_headers", match[17]);
}

function writeTcp(
  reading: Reading,
  [
    ,
    frontend,
    backend,
    server,
    queued,
    connecting,
    total,
    bytes,
    state,
    connections,
    queues,
  ]: RegExpExecArray,
): void {
  reading.message = `${frontend} ${backend}/${server} ${state}`;
  reading.set("haproxy.timers", [queued, connecting, total].join("/"));
  writeTotal(reading, total);
  reading.setNumber(ATTRIBUTE.bytes, bytes);
  reading.set("haproxy.termination_state", state);
  reading.set("haproxy.connections", connections);
  reading.set("haproxy.queues", queues);
}

/** -1 stands for a request that never got so far. */
function writeTotal(reading: Reading, total: string | undefined): void {
  const millis = Number(total);
  if (millis >= 0) reading.attributes.set(ATTRIBUTE.duration, millis / MILLIS);
}

/** AWS's application load balancer. */
const balancer: LineForm = {
  name: "aws-alb",
  read: (text, { clock }) => {
    const match = matchAt(BALANCER, text, 0);
    if (match === null) return null;
    const [
      ,
      at = "",
      name,
      client,
      target,
      waited,
      took,
      answered,
      status,
      targetStatus,
      requestBytes,
      bytes,
    ] = match;
    const time = clock.read(at, 0);
    if (time === null || clock.stamp.end !== at.length) return null;
    const reading = new Reading("aws-alb", "");
    reading.time = time;
    writeRequest(reading, match[12] ?? "", status);
    reading.set("aws.alb.name", name);
    writeClient(reading, client);
    reading.set("aws.alb.target", target);
    const seconds = [waited, took, answered].map(Number);
    if (seconds.every((part) => part >= 0))
      reading.attributes.set(
        ATTRIBUTE.duration,
        Math.round(seconds.reduce((sum, part) => sum + part, 0) * MILLIS) / MILLIS,
      );
    reading.setNumber("aws.alb.target_status_code", targetStatus);
    reading.setNumber(ATTRIBUTE.requestBytes, requestBytes);
    reading.setNumber(ATTRIBUTE.bytes, bytes);
    reading.set(ATTRIBUTE.userAgent, match[13]);
    reading.set("aws.alb.target_group", match[16]);
    reading.set("aws.alb.trace_id", match[17]);
    reading.set("log.rest", text.slice(match[0].length).trim());
    return reading;
  },
};

export const ACCESS_FORMS: readonly LineForm[] = [common, haproxy, balancer];
