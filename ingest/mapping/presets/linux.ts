import type { Preset } from "./preset.ts";

/** Severities 0 to 7. Source: RFC 5424, section 6.2.1. */
export const SYSLOG_SEVERITIES = {
  "0": "fatal",
  "1": "fatal",
  "2": "fatal",
  "3": "error",
  "4": "warn",
  "5": "info",
  "6": "info",
  "7": "debug",
};

/** What Linux hosts and their agents send. */
export const LINUX_PRESETS: readonly Preset[] = [
  {
    // Source: systemd, systemd.journal-fields(7) and the JSON format of journalctl (-o json); times in microseconds.
    name: "journald",
    title: "systemd journal",
    description: "journalctl -o json, or a shipper that keeps the journal's field names.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "_SOURCE_REALTIME_TIMESTAMP", fromDefault: "__REALTIME_TIMESTAMP", parse: "auto" },
      fields: {
        message: { from: "MESSAGE", default: "" },
        level: { from: "PRIORITY", map: SYSLOG_SEVERITIES },
        service: { from: "SYSLOG_IDENTIFIER", fromDefault: "_COMM" },
        source: { from: "_SYSTEMD_UNIT", fromDefault: "_TRANSPORT" },
        host: { from: "_HOSTNAME" },
        event_id: { from: "__CURSOR" },
      },
    },
    sample: {
      __CURSOR: "s=13a21661;i=116f1;b=81b58db8;m=19f0daa;t=50e33c33587ae;x=e307daad",
      __REALTIME_TIMESTAMP: "1772619330739502",
      PRIORITY: "3",
      _HOSTNAME: "web-1",
      SYSLOG_IDENTIFIER: "nginx",
      _SYSTEMD_UNIT: "nginx.service",
      _PID: "2345",
      MESSAGE: "bind() to 0.0.0.0:80 failed",
    },
    signs: ["__REALTIME_TIMESTAMP", "MESSAGE"],
  },
  {
    // Source: rsyslog documentation, templates and properties (timereported, msg, hostname, syslogseverity-text, ...).
    name: "rsyslog-json",
    title: "rsyslog as JSON",
    description:
      "A list template whose keys are timestamp (timereported, rfc3339), host, severity (syslogseverity-text or its " +
      "number), facility, program and message, sent with omhttp.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "timestamp", fromDefault: "@timestamp", parse: "auto" },
      fields: {
        message: { from: "message", fromDefault: "msg", default: "" },
        level: { from: "severity", map: SYSLOG_SEVERITIES },
        service: { from: "program", fromDefault: "programname" },
        host: { from: "host", fromDefault: "hostname" },
      },
    },
    sample: {
      timestamp: "2026-03-04T10:15:30.482913+01:00",
      host: "web-1",
      severity: "err",
      facility: "daemon",
      program: "nginx",
      procid: "2345",
      message: "bind() to 0.0.0.0:80 failed",
    },
    signs: ["facility", "severity", { path: "message", value: /./ }, "host"],
  },
  {
    // Source: Elastic, exported fields of Auditbeat (auditd.*, event.action, process.*, user.*).
    name: "auditbeat",
    title: "Linux audit by Auditbeat",
    description: "Auditbeat's or Elastic Agent's auditd module.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "@timestamp", parse: "iso" },
      fields: {
        message: { from: "message" },
        level: {
          from: "auditd.result",
          fromDefault: "event.outcome",
          map: { fail: "warn", failure: "warn" },
          default: "info",
        },
        service: { const: "auditd" },
        host: { from: "host.name", fromDefault: "host.hostname" },
        "auditd.result": { from: "auditd.result" },
      },
      messageTemplate: "{event.action} {process.executable} by {user.name}",
    },
    sample: {
      "@timestamp": "2026-03-04T10:15:30.986Z",
      auditd: {
        result: "fail",
        session: "12",
        message_type: "syscall",
        data: { syscall: "execve", exit: "EACCES" },
      },
      event: { module: "auditd", action: "executed", outcome: "failure", category: ["process"] },
      process: { executable: "/usr/bin/nc", pid: 17790, args: ["nc", "-l"] },
      user: { name: "tomcat", id: "1001" },
      host: { name: "web-1" },
    },
    signs: ["auditd.message_type", "event.action"],
  },
  {
    // Source: Azure Monitor, table Syslog (TimeGenerated, SeverityLevel, SyslogMessage, ProcessName, HostName).
    name: "log-analytics-syslog",
    title: "Syslog of Azure Log Analytics",
    description: "Rows of the Syslog table, auditd records of auoms among them.",
    format: "json",
    mapping: {
      timestamp: { from: "EventTime", fromDefault: "TimeGenerated", parse: "iso" },
      fields: {
        message: { from: "SyslogMessage", default: "" },
        level: { from: "SeverityLevel" },
        service: { from: "ProcessName" },
        source: { from: "Facility" },
        host: { from: "HostName", fromDefault: "Computer" },
      },
    },
    sample: {
      TimeGenerated: "2026-03-04T10:15:30.997Z",
      EventTime: "2026-03-04T10:15:30Z",
      Computer: "WEB1",
      HostName: "WEB1",
      Facility: "user",
      SeverityLevel: "warning",
      SyslogMessage: "type=AUOMS_EXECVE audit(1772619330.986:84138): success=no",
      HostIP: "192.0.2.5",
      ProcessName: "auoms",
      Type: "Syslog",
    },
    signs: ["SyslogMessage", "SeverityLevel"],
  },
  {
    // Source: osquery documentation, log formats (unixTime, calendarTime, hostIdentifier, action, columns, decorations).
    name: "osquery",
    title: "osquery results",
    description: "The result logs of osqueryd: event format, batch format and snapshots.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "unixTime", parse: "epoch_s" },
      fields: {
        level: { const: "info" },
        service: { const: "osquery" },
        host: { from: "decorations.hostname", fromDefault: "hostIdentifier" },
      },
      messageTemplate: "{name} {action}",
    },
    sample: {
      name: "pack_incident-response_listening_ports",
      hostIdentifier: "web-1",
      calendarTime: "Wed Mar  4 10:15:30 2026 UTC",
      unixTime: 1772619330,
      epoch: 0,
      counter: 62,
      columns: { address: "0.0.0.0", port: "4444", pid: "17790" },
      action: "added",
    },
    signs: ["hostIdentifier", "unixTime", "calendarTime"],
  },
  {
    // Source: Wazuh documentation, alerts.json (timestamp with +0000, rule.level 0 to 16, agent.name, full_log, id).
    name: "wazuh",
    title: "Wazuh alerts",
    description: "alerts.json of the Wazuh manager, or its integrator's webhook.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "timestamp", parse: "iso" },
      fields: {
        message: { from: "rule.description", fromDefault: "full_log", default: "" },
        level: {
          from: "rule.level",
          map: {
            "7": "warn",
            "8": "warn",
            "9": "warn",
            "10": "warn",
            "11": "warn",
            "12": "error",
            "13": "error",
            "14": "error",
            "15": "fatal",
            "16": "fatal",
          },
          default: "info",
        },
        service: { const: "wazuh" },
        host: { from: "agent.name" },
        event_id: { from: "id" },
        "rule.level": { from: "rule.level" },
      },
    },
    sample: {
      timestamp: "2026-03-04T10:15:30.123+0000",
      rule: {
        level: 10,
        description: "sshd: brute force trying to get access",
        id: "5712",
        groups: ["sshd"],
      },
      agent: { id: "007", name: "web-1", ip: "192.0.2.5" },
      manager: { name: "wazuh-1" },
      id: "1772619330.9182374",
      full_log: "sshd[1234]: Failed password for root from 203.0.113.9",
      decoder: { name: "sshd" },
      location: "/var/log/auth.log",
    },
    signs: ["rule.level", "agent.name", "manager.name"],
  },
];
