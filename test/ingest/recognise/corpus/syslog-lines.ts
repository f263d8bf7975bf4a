import type { LineCase } from "../line-case.ts";

/** Messages of syslog as daemons write them to files, by hand, and what they say. */
export const SYSLOG_LINES: readonly LineCase[] = [
  [
    'Jan  2 03:04:05 web-1 billing[12]: {"level":"error","msg":"cannot open","time":"2026-01-02T03:04:04Z","a":1}',
    {
      form: "syslog json",
      time: "2026-01-02T03:04:05Z",
      level: "error",
      service: "billing",
      host: "web-1",
      message: "cannot open",
      attributes: { a: 1, "syslog.procid": "12" },
    },
  ],
  [
    "Jan  2 03:04:05 web-1 kernel: [ 12.345] usb 1-1: new device",
    {
      form: "syslog",
      time: "2026-01-02T03:04:05Z",
      service: "kernel",
      host: "web-1",
      message: "[ 12.345] usb 1-1: new device",
    },
  ],
  [
    "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - 'su root' failed for lonvick on /dev/pts/8",
    {
      form: "syslog",
      time: "2003-10-11T22:14:15.003Z",
      level: "fatal",
      service: "su",
      host: "mymachine.example.com",
      message: "'su root' failed for lonvick on /dev/pts/8",
      attributes: { "syslog.severity": "crit", "syslog.facility": "auth", "syslog.msgid": "ID47" },
    },
  ],
  [
    "<13>Feb  5 17:32:18 10.0.0.99 Use the BFG!",
    {
      form: "syslog",
      time: "2026-02-05T17:32:18Z",
      level: "info",
      host: "10.0.0.99",
      message: "Use the BFG!",
      attributes: { "syslog.severity": "notice", "syslog.facility": "user" },
    },
  ],
  [
    "2026-01-02T03:04:05.123456+01:00 web-1 sshd[123]: error: PAM: Authentication failure",
    {
      form: "syslog",
      time: "2026-01-02T02:04:05.123456Z",
      level: "error",
      service: "sshd",
      host: "web-1",
      message: "error: PAM: Authentication failure",
      attributes: { "syslog.procid": "123" },
    },
  ],
  [
    "2026-01-02T03:04:05+0100 web-1 systemd[1]: Started Session 1.",
    {
      form: "syslog",
      time: "2026-01-02T02:04:05Z",
      service: "systemd",
      host: "web-1",
      message: "Started Session 1.",
      attributes: { "syslog.procid": "1" },
    },
  ],
  [
    "Jan  2 03:04:05 web-1 CRON[7]: (root) CMD (true)",
    {
      form: "syslog",
      time: "2026-01-02T03:04:05Z",
      service: "CRON",
      host: "web-1",
      message: "(root) CMD (true)",
      attributes: { "syslog.procid": "7" },
    },
  ],
  [
    '<13>1 2026-01-02T03:04:05.678Z web-1 shop 12 ID1 [a@1 b="c"] {"level":"error","msg":"broken"}',
    {
      form: "syslog json",
      time: "2026-01-02T03:04:05.678Z",
      level: "error",
      service: "shop",
      host: "web-1",
      message: "broken",
      attributes: {
        "syslog.severity": "notice",
        "syslog.facility": "user",
        "syslog.procid": "12",
        "syslog.msgid": "ID1",
        "a@1.b": "c",
      },
    },
  ],
  [
    "<6>usb 1-1: new device",
    {
      form: "syslog",
      level: "info",
      message: "usb 1-1: new device",
      attributes: { "syslog.severity": "info", "syslog.facility": "kern" },
    },
  ],
  [
    "1 2026-01-02T03:04:05Z web-1 shop - - - without a priority",
    {
      form: "syslog",
      time: "2026-01-02T03:04:05Z",
      service: "shop",
      host: "web-1",
      message: "without a priority",
    },
  ],
];
