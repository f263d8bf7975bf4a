/** What to put where, for one kind of sender. */
interface Recipe {
  readonly sender: string;
  text(address: URL, token: string): string;
}

/** `--for` of `obs token create` -> how that sender is told the address and the token. They are those of docs/shippers.md. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  curl: {
    sender: "curl",
    text: (url, token) => `curl ${at(url, "/api/v1/logs/ingest")} \\
  -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' \\
  -d '{"message":"hello","level":"info","service":"curl"}'`,
  },
  otlp: {
    sender:
      "an OpenTelemetry SDK; the server needs OTLP_PROTOBUF=1, or the SDK is one that knows http/json, as JavaScript's",
    text: (url, token) => `export OTEL_SERVICE_NAME=checkout
export OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=${at(url, "/api/v1/otlp/v1/logs")}
export OTEL_EXPORTER_OTLP_LOGS_HEADERS=authorization=Bearer%20${token}
export OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/protobuf
export OTEL_TRACES_EXPORTER=none OTEL_METRICS_EXPORTER=none`,
  },
  collector: {
    sender:
      "the OpenTelemetry Collector, for the exporters of a logs pipeline; older ones call it otlphttp instead of otlp_http",
    text: (url, token) => `exporters:
  otlp_http/obs:
    endpoint: ${at(url, "/api/v1/otlp")}
    encoding: json
    headers:
      authorization: Bearer ${token}`,
  },
  "fluent-bit": {
    sender: "Fluent Bit; its source is made by: obs sources create fluent-bit --preset fluent-bit-kubernetes",
    text: (url, token) => `[OUTPUT]
    Name             http
    Match            *
    Host             ${url.hostname}
    Port             ${portOf(url)}
    tls              ${url.protocol === "https:" ? "on" : "off"}
    URI              ${pathOf(url, "/api/v1/ingest/fluent-bit")}
    Format           json
    Json_date_key    time
    Compress         gzip
    Header           Authorization Bearer ${token}`,
  },
  vector: {
    sender: "Vector",
    text: (url, token) => `[sinks.obs]
type = "elasticsearch"
inputs = ["my_source"]
endpoints = ["${at(url, "/elasticsearch")}"]
auth = { strategy = "basic", user = "obs", password = "${token}" }`,
  },
  filebeat: {
    sender: "Filebeat",
    text: (url, token) => `output.elasticsearch:
  hosts: ["${at(url, "/elasticsearch")}"]
  username: obs
  password: ${token}
setup.ilm.enabled: false
setup.template.enabled: false`,
  },
  rsyslog: {
    sender: "rsyslog, with its package rsyslog-elasticsearch",
    text: (url, token) => `module(load="omelasticsearch")
template(name="obs" type="list" option.jsonf="on") {
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="host" name="hostname" format="jsonf")
  property(outname="level" name="syslogseverity-text" format="jsonf")
  property(outname="service" name="programname" format="jsonf")
  property(outname="message" name="$.message" format="jsonf")
}
set $.message = ltrim($msg);
*.* action(type="omelasticsearch" server="${at(url, "/elasticsearch")}" template="obs" searchIndex="syslog"
           searchType="" bulkmode="on" uid="obs" pwd="${token}" action.resumeRetryCount="-1")`,
  },
  "syslog-ng": {
    sender: "syslog-ng, with its package syslog-ng-mod-http",
    text: (url, token) => `destination d_obs_http {
  http(
    url("${at(url, "/api/v1/logs/ingest")}") method("POST")
    headers("Authorization: Bearer ${token}" "Content-Type: application/x-ndjson")
    body("$(format-json ts=$ISODATE level=$LEVEL service=$PROGRAM host=$HOST message=$MESSAGE)")
    delimiter("\\n") batch-lines(500) batch-timeout(1000)
  );
};
log { source(s_src); destination(d_obs_http); };`,
  },
  loki: {
    sender: "Promtail; other clients of Loki are told the same address, user and password",
    text: (url, token) => `clients:
  - url: ${at(url, "/loki/api/v1/push")}
    basic_auth:
      username: obs
      password: ${token}`,
  },
  hec: {
    sender: "a sender to Splunk's HTTP event collector",
    text: (url, token) => `curl ${at(url, "/services/collector/event")} \\
  -H 'Authorization: Splunk ${token}' -d '{"event":"hello","sourcetype":"app"}'`,
  },
  docker: {
    sender: "Docker",
    text: (
      url,
      token,
    ) => `docker run --log-driver splunk --log-opt splunk-url=${url.origin} --log-opt splunk-token=${token} \\
  --log-opt splunk-format=json --log-opt splunk-verify-connection=false IMAGE`,
  },
};

/** The address of a path of a server, which may lie behind a prefix. */
function at(url: URL, path: string): string {
  return `${url.origin}${pathOf(url, path)}`;
}

function pathOf(url: URL, path: string): string {
  return `${url.pathname.replace(/\/+$/, "")}${path}`;
}

function portOf({ port, protocol }: URL): string {
  return port !== "" ? port : protocol === "https:" ? "443" : "80";
}
