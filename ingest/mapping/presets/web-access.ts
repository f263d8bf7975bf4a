import { HTTP_STATUS_LEVELS } from "./http-status.ts";
import type { Preset } from "./preset.ts";

/** Access logs of web servers and proxies that write JSON. */
export const WEB_ACCESS_PRESETS: readonly Preset[] = [
  {
    // Source: nginx, ngx_http_log_module (log_format ... escape=json) and the variables of ngx_http_core_module.
    name: "nginx-json",
    title: "nginx access log",
    description:
      "nginx with a log_format of escape=json whose keys are the names of nginx's variables: time_iso8601, " +
      "remote_addr, request, request_method, request_uri, status, server_name, hostname, ...",
    format: "ndjson",
    mapping: {
      timestamp: { from: "time_iso8601", fromDefault: "msec", parse: "auto" },
      fields: {
        message: { from: "request" },
        level: { from: "status", map: HTTP_STATUS_LEVELS, default: "info" },
        service: { from: "server_name", fromDefault: "http_host", default: "nginx" },
        host: { from: "hostname" },
        status: { from: "status" },
      },
      messageTemplate: "{request_method} {request_uri}",
    },
    sample: {
      time_iso8601: "2026-03-04T10:15:30+00:00",
      remote_addr: "203.0.113.9",
      request: "GET /cart HTTP/2.0",
      status: 502,
      body_bytes_sent: 552,
      request_time: 0.214,
      http_user_agent: "Mozilla/5.0",
      server_name: "shop.example.com",
      hostname: "web-1",
      request_id: "7f1c0d3e9a5b4c2d8e6f0a1b2c3d4e5f",
    },
    signs: ["remote_addr", "status", { path: "time_iso8601", value: /^\d{4}-/ }],
  },
  {
    // Source: Apache HTTP Server, mod_log_config (LogFormat directives %t, %a, %m, %U, %>s, %v).
    name: "apache-json",
    title: "Apache HTTP Server access log",
    description:
      'LogFormat "{\\"time\\":\\"%{%Y-%m-%dT%H:%M:%S%z}t\\",\\"remoteIP\\":\\"%a\\",\\"host\\":\\"%V\\",' +
      '\\"request\\":\\"%r\\",\\"status\\":\\"%>s\\",\\"bytes\\":\\"%B\\",\\"userAgent\\":\\"%{User-Agent}i\\"}" json',
    format: "ndjson",
    mapping: {
      timestamp: { from: "time", parse: "auto" },
      fields: {
        message: { from: "request", default: "(no request)" },
        level: { from: "status", map: HTTP_STATUS_LEVELS, default: "info" },
        service: { from: "host", default: "httpd" },
        host: { from: "server" },
        status: { from: "status" },
      },
    },
    sample: {
      time: "2026-03-04T10:15:30+0000",
      remoteIP: "203.0.113.9",
      host: "shop.example.com",
      request: "POST /login HTTP/1.1",
      status: "401",
      bytes: "381",
      userAgent: "curl/8.5.0",
      referer: "-",
    },
    signs: ["remoteIP", "request", "status", "userAgent"],
  },
  {
    // Source: Caddy, the log directive and the zap JSON encoder behind it; ts is in seconds, wall_milli and ISO exist.
    name: "caddy",
    title: "Caddy access log",
    description: "Caddy's own JSON: the log directive with format json, access and server messages alike.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "ts", parse: "auto" },
      fields: {
        level: { from: "status", fromDefault: "level", map: HTTP_STATUS_LEVELS, default: "info" },
        service: { from: "request.host", default: "caddy" },
        status: { from: "status" },
      },
      messageTemplate: "{msg}: {request.method} {request.uri} {status}",
    },
    sample: {
      level: "info",
      ts: 1772619330.524102,
      logger: "http.log.access.log0",
      msg: "handled request",
      request: {
        remote_ip: "203.0.113.9",
        client_ip: "203.0.113.9",
        proto: "HTTP/2.0",
        method: "GET",
        host: "shop.example.com",
        uri: "/cart?step=2",
        headers: { "User-Agent": ["Mozilla/5.0"] },
      },
      bytes_read: 0,
      duration: 0.000929675,
      size: 10900,
      status: 200,
    },
    signs: [{ path: "logger", value: /^http\.log\./ }, "ts", "request.uri"],
  },
  {
    // Source: Traefik, access log fields (StartUTC, RouterName, ServiceName, DownstreamStatus, RequestMethod, ...).
    name: "traefik",
    title: "Traefik access log",
    description: "Traefik with accessLog.format json.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "StartUTC", fromDefault: "time", parse: "iso" },
      fields: {
        level: { from: "DownstreamStatus", map: HTTP_STATUS_LEVELS, default: "info" },
        service: { from: "ServiceName", fromDefault: "RouterName", default: "traefik" },
        DownstreamStatus: { from: "DownstreamStatus" },
      },
      messageTemplate: "{RequestMethod} {RequestPath} {DownstreamStatus}",
    },
    sample: {
      ClientAddr: "203.0.113.9:58094",
      ClientHost: "203.0.113.9",
      DownstreamContentSize: 50,
      DownstreamStatus: 504,
      Duration: 35914250,
      OriginStatus: 504,
      RequestHost: "shop.example.com",
      RequestMethod: "GET",
      RequestPath: "/orders",
      RequestProtocol: "HTTP/1.1",
      RouterName: "shop@docker",
      ServiceName: "shop-web@docker",
      StartUTC: "2026-03-04T10:15:30.306691884Z",
      entryPointName: "websecure",
      level: "info",
      msg: "",
      time: "2026-03-04T10:15:30Z",
    },
    signs: ["DownstreamStatus", "RequestMethod", "StartUTC"],
  },
  {
    // Source: Envoy, access logging: the JSON format and its command operators; Istio's default JSON encoding.
    name: "envoy-json",
    title: "Envoy and Istio access log",
    description: "Envoy's json_format with the keys that Istio's JSON access log uses.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "start_time", parse: "iso" },
      fields: {
        level: { from: "response_code", map: HTTP_STATUS_LEVELS, default: "info" },
        service: { from: "authority", default: "envoy" },
        response_code: { from: "response_code" },
      },
      messageTemplate: "{method} {path} {response_code}",
    },
    sample: {
      start_time: "2026-03-04T10:15:30.123Z",
      method: "GET",
      path: "/api/items",
      protocol: "HTTP/1.1",
      response_code: 503,
      response_flags: "UF",
      bytes_received: 0,
      bytes_sent: 91,
      duration: 12,
      authority: "items.example.com",
      upstream_host: "192.0.2.20:8080",
      upstream_cluster: "outbound|80||items",
      user_agent: "curl/8.5.0",
      request_id: "0d2a3b4c-5d6e-4f70-8a9b-0c1d2e3f4a5b",
    },
    signs: ["start_time", "response_code", "response_flags"],
  },
  {
    // Source: HAProxy configuration manual, section 8.2 (custom log format: %trg, %ci, %ft, %b, %s, %ST, %r, %Ts).
    name: "haproxy-json",
    title: "HAProxy access log",
    description:
      'log-format \'{"time":%Ts.%ms,"client_ip":"%ci","frontend":"%f","backend":"%b","server":"%s",' +
      '"status":%ST,"request":"%{+E}r","bytes":%B,"total_time":%Ta,"termination_state":"%tsc"}\'',
    format: "ndjson",
    mapping: {
      timestamp: { from: "time", parse: "auto" },
      fields: {
        message: { from: "request", default: "(no request)" },
        level: { from: "status", map: HTTP_STATUS_LEVELS, default: "info" },
        service: { from: "backend", fromDefault: "frontend" },
        host: { from: "server" },
        status: { from: "status" },
      },
    },
    sample: {
      time: 1772619330.217,
      client_ip: "203.0.113.9",
      frontend: "https-in",
      backend: "shop",
      server: "web-1",
      status: 500,
      request: "GET /checkout HTTP/1.1",
      bytes: 1893,
      total_time: 37,
      termination_state: "----",
    },
    signs: ["frontend", "backend", "termination_state"],
  },
];
