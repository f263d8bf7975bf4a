import type { Preset } from "./preset.ts";

/** What sensors on the network report. */
export const NETWORK_PRESETS: readonly Preset[] = [
  {
    // Source: Zeek, the JSON writer (LogAscii::use_json, ts in seconds) and json-streaming-logs (_path, _write_ts).
    name: "zeek",
    title: "Zeek logs",
    description: "Zeek's JSON logs. The stream's name is in _path, in @stream, or missing.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "ts", fromDefault: "_write_ts", parse: "auto" },
      fields: {
        level: { const: "info" },
        service: { const: "zeek" },
        source: { from: "_path", fromDefault: "@stream" },
        host: { from: "_system_name", fromDefault: "@system" },
      },
      messageTemplate: "{_path}{@stream} {uid} {id.orig_h}{id_orig_h} -> {id.resp_h}{id_resp_h}",
    },
    sample: {
      _path: "conn",
      _system_name: "sensor-1",
      ts: 1772619330.82437,
      uid: "Cvf4XX17hSAgXDdGEd",
      "id.orig_h": "192.0.2.6",
      "id.orig_p": 54243,
      "id.resp_h": "198.51.100.4",
      "id.resp_p": 53,
      proto: "udp",
      service: "dns",
      duration: 0.001528,
      orig_bytes: 39,
      resp_bytes: 55,
      conn_state: "SF",
    },
    signs: ["ts", { path: "uid", value: /^[CF][0-9A-Za-z]{8,}$/ }],
  },
  {
    // Source: Suricata user guide, EVE JSON format (timestamp with +0000, event_type, alert.severity 1 to 4, host).
    name: "suricata-eve",
    title: "Suricata EVE",
    description: "eve.json: alerts, flows, DNS, HTTP and all other event types.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "timestamp", parse: "iso" },
      fields: {
        message: { from: "alert.signature" },
        level: {
          from: "alert.severity",
          map: { "1": "error", "2": "warn", "3": "info", "4": "info" },
          default: "info",
        },
        service: { const: "suricata" },
        source: { from: "event_type" },
        host: { from: "host" },
        "alert.severity": { from: "alert.severity" },
        event_type: { from: "event_type" },
      },
      messageTemplate: "{event_type} {src_ip} -> {dest_ip} {app_proto}",
    },
    sample: {
      timestamp: "2026-03-04T10:15:30.484201+0000",
      flow_id: 1154611008869142,
      in_iface: "eth0",
      host: "sensor-1",
      event_type: "alert",
      src_ip: "203.0.113.9",
      src_port: 45678,
      dest_ip: "192.0.2.5",
      dest_port: 80,
      proto: "TCP",
      alert: {
        action: "allowed",
        gid: 1,
        signature_id: 2019236,
        signature: "Possible command injection in HTTP header",
        category: "Attempted Administrator Privilege Gain",
        severity: 1,
      },
    },
    signs: ["event_type", "flow_id", "src_ip", "dest_ip"],
  },
];
