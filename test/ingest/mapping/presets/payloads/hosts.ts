import type { Payload } from "./payload.ts";

export const HOST_PAYLOADS: readonly Payload[] = [
  {
    preset: "journald",
    body:
      '{"__CURSOR":"s=1;i=2;b=3;m=4;t=5;x=6","__REALTIME_TIMESTAMP":"1778536798006123","__MONOTONIC_TIMESTAMP":"342797466",' +
      '"_BOOT_ID":"6057b143","PRIORITY":"4","_HOSTNAME":"db-1","SYSLOG_FACILITY":"10","SYSLOG_IDENTIFIER":"sshd",' +
      '"_COMM":"sshd","_PID":"812","_TRANSPORT":"syslog","MESSAGE":"Connection closed by 198.51.100.23 port 4022"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006123Z",
      message: "Connection closed by 198.51.100.23 port 4022",
      level: "warn",
      service: "sshd",
      source: "syslog",
      host: "db-1",
      event_id: "s=1;i=2;b=3;m=4;t=5;x=6",
      attrs: { _PID: "812", SYSLOG_FACILITY: "10" },
    },
    right: {
      timestamp: "__REALTIME_TIMESTAMP",
      message: "MESSAGE",
      level: "PRIORITY",
      service: "SYSLOG_IDENTIFIER|_COMM",
      host: "_HOSTNAME",
    },
  },
  {
    preset: "rsyslog-json",
    body: {
      "@timestamp": "2026-05-11T23:59:58.006123+02:00",
      message: "Accepted publickey for lee",
      host: "db-1",
      severity: "info",
      facility: "authpriv",
      programname: "sshd",
      procid: "812",
    },
    entry: {
      ts: "2026-05-11T21:59:58.006123Z",
      message: "Accepted publickey for lee",
      level: "info",
      service: "sshd",
      host: "db-1",
      attrs: { facility: "authpriv", procid: "812" },
    },
    right: {
      timestamp: "@timestamp",
      message: "message",
      level: "severity",
      service: "programname",
      host: "host",
    },
  },
  {
    preset: "auditbeat",
    body: {
      "@timestamp": "2026-05-11T21:59:58.006Z",
      event: {
        category: ["process"],
        kind: "event",
        module: "auditd",
        action: "opened-file",
        outcome: "success",
      },
      process: { pid: 812, name: "cat", executable: "/usr/bin/cat" },
      user: { id: "0", name: "root" },
      auditd: { message_type: "syscall", sequence: 3, result: "success", session: "7" },
      host: { name: "db-1" },
      service: { type: "auditd" },
    },
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "opened-file /usr/bin/cat by root",
      level: "info",
      service: "auditd",
      host: "db-1",
      attrs: { "auditd.result": "success", "process.pid": 812 },
    },
    right: {
      timestamp: "@timestamp",
      message: "event.action",
      level: "auditd.result|event.outcome",
      service: "service.type|event.module|",
      host: "host.name",
    },
  },
  {
    preset: "log-analytics-syslog",
    body: {
      TenantId: "demo",
      SourceSystem: "Linux",
      TimeGenerated: "2026-05-11T21:59:59.997Z",
      Computer: "DB1",
      EventTime: "2026-05-11T21:59:58Z",
      Facility: "authpriv",
      HostName: "DB1",
      SeverityLevel: "err",
      SyslogMessage: "error: maximum authentication attempts exceeded",
      ProcessID: 812,
      HostIP: "192.0.2.5",
      ProcessName: "sshd",
      Type: "Syslog",
    },
    entry: {
      ts: "2026-05-11T21:59:58.000Z",
      message: "error: maximum authentication attempts exceeded",
      level: "error",
      service: "sshd",
      source: "authpriv",
      host: "DB1",
      attrs: { HostIP: "192.0.2.5", ProcessID: 812 },
    },
    right: {
      timestamp: "EventTime|TimeGenerated",
      message: "SyslogMessage",
      level: "SeverityLevel",
      service: "ProcessName",
      host: "HostName|Computer",
    },
  },
  {
    preset: "osquery",
    body:
      '{"name":"pack_base_users","hostIdentifier":"9f1c2d3e-0bf1-5456-8f6c-335243aea537","calendarTime":' +
      '"Mon May 11 21:59:58 2026 UTC","unixTime":"1778536798","epoch":"0","counter":"62","decorations":' +
      '{"host_uuid":"9f1c2d3e-0bf1-5456-8f6c-335243aea537","hostname":"db-1"},"columns":{"username":"temp"},"action":"added"}',
    entry: {
      ts: "2026-05-11T21:59:58.000Z",
      message: "pack_base_users added",
      level: "info",
      service: "osquery",
      host: "db-1",
      attrs: { name: "pack_base_users", "columns.username": "temp" },
    },
    right: {
      timestamp: "unixTime",
      message: "name|action",
      level: "",
      service: "",
      host: "decorations.hostname",
    },
  },
  {
    preset: "wazuh",
    body: {
      timestamp: "2026-05-11T21:59:58.006+0000",
      rule: { level: 3, description: "PAM: Login session opened.", id: "5501", firedtimes: 1 },
      agent: { id: "003", name: "db-1", ip: "192.0.2.9" },
      manager: { name: "siem-1" },
      id: "1778536798.12345",
      full_log: "pam_unix(sshd:session): session opened for user lee",
      predecoder: { program_name: "sshd", timestamp: "May 11 21:59:58", hostname: "db-1" },
      decoder: { name: "pam" },
      location: "/var/log/auth.log",
    },
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "PAM: Login session opened.",
      level: "info",
      service: "wazuh",
      host: "db-1",
      event_id: "1778536798.12345",
      attrs: { "rule.level": 3, "manager.name": "siem-1", location: "/var/log/auth.log" },
    },
    right: {
      timestamp: "timestamp",
      message: "rule.description|full_log",
      level: "rule.level",
      service: "predecoder.program_name|",
      host: "agent.name|predecoder.hostname",
    },
  },
  {
    preset: "winlogbeat",
    body: {
      "@timestamp": "2026-05-11T21:59:58.006Z",
      agent: { name: "PC-9", type: "winlogbeat", version: "8.15.0" },
      host: { name: "pc-9.example.com" },
      log: { level: "warning" },
      message: "The processor is being limited by system firmware.",
      event: { code: "37", kind: "event", provider: "Microsoft-Windows-Kernel-Processor-Power" },
      winlog: {
        channel: "System",
        computer_name: "pc-9.example.com",
        event_id: "37",
        provider_name: "Microsoft-Windows-Kernel-Processor-Power",
        record_id: 5512,
      },
    },
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "The processor is being limited by system firmware.",
      level: "warn",
      service: "Microsoft-Windows-Kernel-Processor-Power",
      source: "System",
      host: "pc-9.example.com",
      attrs: { "winlog.event_id": "37", "event.code": "37" },
    },
    right: {
      timestamp: "@timestamp",
      message: "message",
      level: "log.level",
      service: "winlog.provider_name|event.provider",
      host: "winlog.computer_name|host.name",
    },
  },
  {
    preset: "nxlog-windows",
    body:
      '{"EventTime":"2026-05-11 21:59:58","Hostname":"pc-9.example.com","Keywords":-9214364837600034816,' +
      '"EventType":"AUDIT_SUCCESS","SeverityValue":2,"Severity":"INFO","EventID":4688,' +
      '"SourceName":"Microsoft-Windows-Security-Auditing","ProviderGuid":"{54849625-5478-4994-A5BA-3E3B0328C30D}",' +
      '"Channel":"Security","Message":"A new process has been created.","Category":"Process Creation"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.000Z",
      message: "A new process has been created.",
      level: "info",
      service: "Microsoft-Windows-Security-Auditing",
      source: "Security",
      host: "pc-9.example.com",
      attrs: { EventID: 4688, EventType: "AUDIT_SUCCESS" },
    },
    right: {
      timestamp: "EventTime",
      message: "Message",
      level: "Severity",
      service: "SourceName",
      host: "Hostname",
    },
  },
  {
    preset: "windows-event-json",
    body:
      '{"TimeCreated":"2026-05-11T21:59:58.006Z","EventID":7036,"Level":"2","Channel":"System","Provider":' +
      '"Service Control Manager","Computer":"pc-9.example.com","param1":"Print Spooler"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "Event 7036 of Service Control Manager",
      level: "error",
      service: "Service Control Manager",
      source: "System",
      host: "pc-9.example.com",
      attrs: { EventID: 7036, param1: "Print Spooler" },
    },
    right: { timestamp: "TimeCreated", message: "", level: "Level", service: "Provider", host: "Computer" },
  },
  {
    preset: "sysmon",
    body:
      '{"EventTime":"2026-05-11 23:59:58","UtcTime":"2026-05-11 21:59:58.006","@timestamp":"2026-05-11T22:00:01.182Z",' +
      '"Hostname":"pc-9.example.com","EventID":11,"SourceName":"Microsoft-Windows-Sysmon","Severity":"INFO",' +
      '"Channel":"Microsoft-Windows-Sysmon/Operational","Category":"File created (rule: FileCreate)",' +
      '"Image":"C:\\\\Windows\\\\explorer.exe","TargetFilename":"C:\\\\Users\\\\lee\\\\a.exe","ProcessId":"812"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "File created (rule: FileCreate) C:\\Windows\\explorer.exe C:\\Users\\lee\\a.exe",
      level: "info",
      service: "sysmon",
      source: "Microsoft-Windows-Sysmon/Operational",
      host: "pc-9.example.com",
      attrs: { EventID: 11, TargetFilename: "C:\\Users\\lee\\a.exe" },
    },
    right: {
      timestamp: "UtcTime|@timestamp",
      message: "Category",
      level: "Severity",
      service: "SourceName",
      host: "Hostname",
    },
  },
  {
    preset: "log-analytics-windows",
    body: [
      {
        TenantId: "demo",
        TimeGenerated: "2026-05-11T21:59:58.347Z",
        Provider: "Microsoft-Windows-Security-Auditing",
        Channel: "Security",
        Computer: "PC9",
        Task: 12544,
        EventLevel: 0,
        EventLevelName: "LogAlways",
        EventData: '{"TargetUserName":"lee"}',
        EventID: 4625,
        Type: "WindowsEvent",
      },
    ],
    entry: {
      ts: "2026-05-11T21:59:58.347Z",
      message: "Event 4625 of Microsoft-Windows-Security-Auditing",
      level: "info",
      service: "Microsoft-Windows-Security-Auditing",
      source: "Security",
      host: "PC9",
      attrs: { EventID: 4625, EventLevelName: "LogAlways" },
    },
    right: {
      timestamp: "TimeGenerated",
      message: "EventData|Type",
      level: "EventLevel",
      service: "Provider",
      host: "Computer",
    },
  },
];
