import type { Preset } from "./preset.ts";

/** What container engines and orchestrators write about themselves and about what runs in them. */
export const CONTAINER_PRESETS: readonly Preset[] = [
  {
    // Source: Docker, the json-file logging driver (log, stream, time with nine digits, attrs).
    name: "docker-json-file",
    title: "Docker json-file",
    description: "The lines of Docker's json-file logging driver, as a shipper reads them from disk.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "time", parse: "iso" },
      fields: {
        message: { from: "log", default: "" },
        service: { from: "attrs.tag", fromDefault: "container_name" },
      },
    },
    sample: {
      log: "listening on :8080\n",
      stream: "stdout",
      time: "2026-03-04T10:15:30.123456789Z",
      attrs: { tag: "shop-web" },
    },
    signs: ["log", { path: "stream", value: /^std(out|err)$/ }, { path: "time", value: /^\d{4}-/ }],
  },
  {
    // Source: Fluent Bit, the kubernetes filter (kubernetes.*) and the http output (date as a fraction of seconds).
    name: "fluent-bit-kubernetes",
    title: "Kubernetes containers by Fluent Bit",
    description: "Fluent Bit's http output with format json or json_lines behind its kubernetes filter.",
    format: "json",
    mapping: {
      timestamp: { from: "date", fromDefault: "time", parse: "auto" },
      fields: {
        message: { from: "log", fromDefault: "message", default: "" },
        service: { from: "kubernetes.labels.app", fromDefault: "kubernetes.container_name" },
        host: { from: "kubernetes.host" },
      },
    },
    sample: {
      date: 1772619330.123456,
      stream: "stderr",
      log: "cannot reach the ledger, trying again",
      kubernetes: {
        pod_name: "billing-6f7c9d5b8-x2x7k",
        namespace_name: "shop",
        container_name: "billing",
        labels: { app: "billing" },
        host: "node-3.example.com",
      },
    },
    signs: ["kubernetes.pod_name", "kubernetes.namespace_name"],
  },
  {
    // Source: Kubernetes, audit.k8s.io/v1 Event and EventList (auditing reference), also as the audit webhook sends it.
    name: "kubernetes-audit",
    title: "Kubernetes audit events",
    description: "The API server's audit log, one event a line, or the EventList of its audit webhook.",
    format: "json",
    mapping: {
      records: "items",
      timestamp: { from: "stageTimestamp", fromDefault: "requestReceivedTimestamp", parse: "iso" },
      fields: {
        level: {
          from: "responseStatus.code",
          map: { "401": "warn", "403": "warn", "500": "error", "503": "error", "504": "error" },
          default: "info",
        },
        service: { const: "kube-apiserver" },
        "responseStatus.code": { from: "responseStatus.code" },
      },
      messageTemplate: "{user.username} {verb} {requestURI} {responseStatus.code}",
    },
    sample: {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Metadata",
      auditID: "38a26239-7f3e-402f-8c56-2fb57a3fe49d",
      stage: "ResponseComplete",
      requestURI: "/api/v1/namespaces/shop/secrets/ledger",
      verb: "get",
      user: { username: "system:serviceaccount:shop:web", groups: ["system:authenticated"] },
      sourceIPs: ["192.0.2.14"],
      objectRef: { resource: "secrets", namespace: "shop", name: "ledger", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 403 },
      requestReceivedTimestamp: "2026-03-04T10:15:30.336915Z",
      stageTimestamp: "2026-03-04T10:15:30.341682Z",
    },
    signs: [{ path: "apiVersion", value: /^audit\.k8s\.io\// }, "auditID", "verb"],
  },
  {
    // Source: Kubernetes API reference, core/v1 Event (type is Normal or Warning) and events.k8s.io/v1.
    name: "kubernetes-events",
    title: "Kubernetes events",
    description: "Event objects of the cluster as exporters send them, one or an EventList.",
    format: "json",
    mapping: {
      records: "items",
      timestamp: { from: "lastTimestamp", fromDefault: "eventTime", parse: "iso" },
      fields: {
        message: { from: "message", fromDefault: "note" },
        level: { from: "type", map: { Normal: "info", Warning: "warn" } },
        service: { from: "reportingComponent", fromDefault: "source.component" },
        host: { from: "source.host", fromDefault: "reportingInstance" },
      },
      messageTemplate: "{reason} {involvedObject.kind} {involvedObject.name}",
    },
    sample: {
      kind: "Event",
      apiVersion: "v1",
      metadata: { name: "billing.17b2f3", namespace: "shop", uid: "5b1c7a52-0a63-4d0c-9d25-2c8d1a7e9f10" },
      involvedObject: { kind: "Pod", namespace: "shop", name: "billing-6f7c9d5b8-x2x7k" },
      reason: "BackOff",
      message: "Back-off restarting failed container billing",
      source: { component: "kubelet", host: "node-3.example.com" },
      firstTimestamp: "2026-03-04T10:10:00Z",
      lastTimestamp: "2026-03-04T10:15:30Z",
      count: 7,
      type: "Warning",
    },
    signs: ["involvedObject.kind", "reason", { path: "type", value: /^(Normal|Warning)$/ }],
  },
  {
    // Source: Falco, json_output (output, priority, rule, time, output_fields, hostname, source).
    name: "falco",
    title: "Falco alerts",
    description: "Falco with json_output and http_output.",
    format: "json",
    mapping: {
      timestamp: { from: "time", parse: "iso" },
      fields: {
        message: { from: "output", fromDefault: "rule", default: "" },
        level: { from: "priority" },
        service: { const: "falco" },
        host: { from: "hostname" },
      },
    },
    sample: {
      hostname: "node-3.example.com",
      output: "10:15:30.123456789: Warning Shell spawned in a container (user=root command=sh)",
      priority: "Warning",
      rule: "Terminal shell in container",
      source: "syscall",
      tags: ["container", "shell"],
      time: "2026-03-04T10:15:30.123456789Z",
      output_fields: { "container.id": "3ad7b26ded6d", "proc.name": "sh", "user.name": "root" },
    },
    signs: ["output_fields", "priority", "rule"],
  },
  {
    // Source: Prometheus Alertmanager, webhook_config (version "4": receiver, status, alerts with labels, annotations).
    name: "alertmanager",
    title: "Prometheus Alertmanager",
    description: "Alertmanager's webhook receiver: one entry for each alert of a notification.",
    format: "json",
    mapping: {
      records: "alerts",
      timestamp: { from: "startsAt", parse: "iso" },
      fields: {
        message: { from: "annotations.summary", fromDefault: "annotations.description" },
        level: { from: "labels.severity", map: { page: "error", none: "info" }, default: "warn" },
        service: { from: "labels.service", fromDefault: "labels.job", default: "alertmanager" },
        host: { from: "labels.instance" },
      },
      messageTemplate: "{labels.alertname}",
    },
    sample: {
      version: "4",
      receiver: "obs",
      status: "firing",
      groupLabels: { alertname: "HighLatency" },
      alerts: [
        {
          status: "firing",
          labels: { alertname: "HighLatency", severity: "critical", job: "api", instance: "192.0.2.7:9090" },
          annotations: { summary: "p99 above 2 s for 5 minutes" },
          startsAt: "2026-03-04T10:15:30.123Z",
          endsAt: "0001-01-01T00:00:00Z",
          fingerprint: "c2f8b1a0d3e4f567",
        },
      ],
    },
    signs: ["labels.alertname", "startsAt", "fingerprint"],
  },
];
