import type { Preset } from "./preset.ts";

/** Levels of Windows events: 0 is "log always", used by audits. Source: winmeta.xml, standard levels. */
const EVENT_LEVELS = { "0": "info", "1": "fatal", "2": "error", "3": "warn", "4": "info", "5": "debug" };

/** Windows event logs by the shippers that turn them into JSON. */
export const WINDOWS_PRESETS: readonly Preset[] = [
  {
    // Source: Elastic, exported fields of Winlogbeat (winlog.*, event.code, log.level, host.name).
    name: "winlogbeat",
    title: "Windows events by Winlogbeat",
    description: "Winlogbeat or Elastic Agent, any channel.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "@timestamp", parse: "iso" },
      fields: {
        message: { from: "message" },
        level: { from: "log.level", default: "info" },
        service: { from: "winlog.provider_name" },
        source: { from: "winlog.channel" },
        host: { from: "winlog.computer_name", fromDefault: "host.name" },
      },
      messageTemplate: "Event {winlog.event_id} of {winlog.provider_name}",
    },
    sample: {
      "@timestamp": "2026-03-04T10:15:30.123Z",
      message: "An account failed to log on.",
      log: { level: "information" },
      event: { code: "4625", provider: "Microsoft-Windows-Security-Auditing", outcome: "failure" },
      winlog: {
        channel: "Security",
        computer_name: "pc-5.example.com",
        event_id: "4625",
        provider_name: "Microsoft-Windows-Security-Auditing",
        record_id: 91823,
        event_data: { TargetUserName: "sam", IpAddress: "203.0.113.9" },
      },
      host: { name: "pc-5" },
    },
    signs: ["winlog.channel", "winlog.event_id"],
  },
  {
    // Source: NXLog reference manual, im_msvistalog (EventTime, Severity, EventID, SourceName, Hostname, Message).
    name: "nxlog-windows",
    title: "Windows events by NXLog",
    description:
      "NXLog's im_msvistalog through to_json(). EventTime is the machine's local time without an offset and read as " +
      "UTC: let NXLog write it with one, or send @timestamp or TimeCreated.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "@timestamp", fromDefault: "EventTime", parse: "auto" },
      fields: {
        message: { from: "Message" },
        level: { from: "Severity", map: { AUDIT_SUCCESS: "info", AUDIT_FAILURE: "warn" }, default: "info" },
        service: { from: "SourceName" },
        source: { from: "Channel" },
        host: { from: "Hostname" },
      },
      messageTemplate: "{Category} (event {EventID} of {SourceName})",
    },
    sample: {
      EventTime: "2026-03-04T10:15:30.123456+00:00",
      Hostname: "pc-5.example.com",
      Keywords: "9232379236109516800",
      EventType: "AUDIT_FAILURE",
      SeverityValue: 4,
      Severity: "ERROR",
      EventID: 4625,
      SourceName: "Microsoft-Windows-Security-Auditing",
      Task: 12544,
      RecordNumber: 91823,
      Channel: "Security",
      Message: "An account failed to log on.",
      TargetUserName: "sam",
    },
    signs: ["EventID", "SourceName", "Channel", "Hostname", "EventTime"],
  },
  {
    // Source: Microsoft, event schema (System: TimeCreated, Level, Computer), as collectors flatten it to JSON.
    name: "windows-event-json",
    title: "Windows events as flat JSON",
    description:
      "Collectors that put the System elements and the event data of a Windows event side by side: TimeCreated, Level, " +
      "EventID, Channel, SourceName or Provider, Hostname or Computer, Message.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "TimeCreated", fromDefault: "@timestamp", parse: "auto" },
      fields: {
        message: { from: "Message" },
        level: { from: "Level", map: EVENT_LEVELS, default: "info" },
        service: { from: "SourceName", fromDefault: "Provider" },
        source: { from: "Channel" },
        host: { from: "Hostname", fromDefault: "Computer" },
      },
      messageTemplate: "Event {EventID} of {SourceName}{Provider}",
    },
    sample: {
      TimeCreated: "2026-03-04T10:15:30.671Z",
      EventID: 1102,
      Level: "4",
      Channel: "Security",
      SourceName: "Microsoft-Windows-Eventlog",
      Hostname: "pc-5",
      Task: "104",
      Message: "The audit log was cleared.",
    },
    signs: ["TimeCreated", "EventID", "Channel"],
  },
  {
    // Source: Sysmon, event schema (UtcTime, ProcessGuid, Image); NXLog's and Logstash's envelope around it.
    name: "sysmon",
    title: "Sysmon events",
    description:
      "Sysmon's channel with its event data at the top, as NXLog writes it. The time is Sysmon's own UtcTime.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "UtcTime", fromDefault: "@timestamp", parse: "auto" },
      fields: {
        message: { from: "Message" },
        level: { from: "Severity", fromDefault: "Level", map: EVENT_LEVELS, default: "info" },
        service: { const: "sysmon" },
        source: { from: "Channel" },
        host: { from: "Hostname", fromDefault: "Computer" },
      },
      messageTemplate: "{Category} {Image} {CommandLine}{TargetObject}{TargetFilename}",
    },
    sample: {
      EventTime: "2026-03-04 11:15:30",
      UtcTime: "2026-03-04 10:15:30.266",
      Hostname: "pc-5.example.com",
      EventID: 1,
      SourceName: "Microsoft-Windows-Sysmon",
      Channel: "Microsoft-Windows-Sysmon/Operational",
      Severity: "INFO",
      Category: "Process Create (rule: ProcessCreate)",
      ProcessGuid: "{b34bc01c-22ae-5f69-b600-000000000900}",
      ProcessId: "3936",
      Image: "C:\\Windows\\System32\\whoami.exe",
      CommandLine: "whoami /all",
      User: "EXAMPLE\\sam",
    },
    signs: [
      { path: "Channel", value: /^Microsoft-Windows-Sysmon/ },
      "EventID",
      "Hostname",
      { path: "UtcTime", value: /^\d{4}-/ },
    ],
  },
  {
    // Source: Azure Monitor, tables WindowsEvent, Event and SecurityEvent (TimeGenerated, Computer, EventLevelName).
    name: "log-analytics-windows",
    title: "Windows events of Azure Log Analytics",
    description: "Rows of the WindowsEvent or SecurityEvent table, as data export and queries give them.",
    format: "json",
    mapping: {
      timestamp: { from: "TimeGenerated", parse: "iso" },
      fields: {
        message: { from: "RenderedDescription", fromDefault: "Activity" },
        level: { from: "EventLevelName", default: "info" },
        service: { from: "Provider", fromDefault: "EventSourceName" },
        source: { from: "Channel" },
        host: { from: "Computer" },
      },
      messageTemplate: "Event {EventID} of {Provider}",
    },
    sample: {
      TimeGenerated: "2026-03-04T10:15:30.347Z",
      Provider: "Microsoft-Windows-Sysmon",
      Channel: "Microsoft-Windows-Sysmon/Operational",
      Computer: "pc-5",
      Task: 3,
      EventLevel: 4,
      EventLevelName: "Information",
      EventData: '{"Image":"C:\\\\Windows\\\\System32\\\\curl.exe","DestinationIp":"203.0.113.9"}',
      EventID: 3,
      Type: "WindowsEvent",
    },
    signs: ["TimeGenerated", "EventID", "Computer"],
  },
];
