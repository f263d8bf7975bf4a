/** Syslog as it is found: what of a message ends up where in the entry. Nothing is rejected. */
import { describe, expect, test } from "bun:test";
import type { Rfc5424Form } from "../../../../ingest/decode/syslog/rfc5424.ts";
import { SyslogRecords } from "../../../../ingest/decode/syslog/syslog-records.ts";
import type { RecordDecoder } from "../../../../ingest/record/record-decoder.ts";
import { type DecodedEntry, decodeEntries, RECEIVED_AT_MS } from "../decoded-entries.ts";
import { decodeMessage, PEER } from "./decoded-messages.ts";

const RECEIVED_AT = new Date(RECEIVED_AT_MS).toISOString();

/** Everything but the time, which is written as a date; the host is left out where it is the peer. */
function plain({ ts, host, ...entry }: DecodedEntry): Record<string, unknown> {
  return {
    time: new Date(Number(ts / 1_000_000n)).toISOString(),
    ...(host === PEER ? {} : { host }),
    ...entry,
  };
}

interface Expected {
  time?: string;
  message: string;
  level?: string;
  service?: string;
  host?: string;
  attrs?: Record<string, unknown>;
}

const AUTH_CRIT = { "syslog.facility": "auth", "syslog.severity": "crit" };
const USER_NOTICE = { "syslog.facility": "user", "syslog.severity": "notice" };
const LOCAL7_NOTICE = { "syslog.facility": "local7", "syslog.severity": "notice" };
const LOCAL4_INFO = { "syslog.facility": "local4", "syslog.severity": "info" };

function check(cases: readonly [string, Expected][]): void {
  test.each(cases.map(([message, expected]) => [message, expected] as const))("%p", (message, expected) => {
    expect(plain(decodeMessage(message))).toEqual({ time: RECEIVED_AT, attrs: {}, ...expected });
  });
}

describe("RFC 5424", () => {
  check([
    [
      "<34>1 2026-10-11T22:14:15.003Z host.example.com su - ID47 - \uFEFF'su root' failed",
      {
        time: "2026-10-11T22:14:15.003Z",
        host: "host.example.com",
        service: "su",
        level: "fatal",
        message: "'su root' failed",
        attrs: { ...AUTH_CRIT, "syslog.msgid": "ID47" },
      },
    ],
    [
      '<13>1 2026-10-11T22:14:15.000003-07:00 192.0.2.1 app 8710 - [ex@32473 iut="3" src="App\\"li\\]ca\\\\tion"][empty][ex2@1 a="x" a="y"] text',
      {
        time: "2026-10-12T05:14:15.000Z",
        host: "192.0.2.1",
        service: "app",
        level: "info",
        message: "text",
        attrs: {
          ...USER_NOTICE,
          "syslog.procid": "8710",
          "ex@32473.iut": "3",
          "ex@32473.src": 'App"li]ca\\tion',
          empty: true,
          "ex2@1.a": ["x", "y"],
        },
      },
    ],
    ["<13>1 - - - - - -", { level: "info", message: "", attrs: USER_NOTICE }],
    ["<13>1 - - - - - - ", { level: "info", message: "", attrs: USER_NOTICE }],
    [
      "<13>1 - - - - - no structured data",
      { level: "info", message: "no structured data", attrs: USER_NOTICE },
    ],
    [
      '<13>1 - - - - - [broken a="b] text',
      { level: "info", message: '[broken a="b] text', attrs: USER_NOTICE },
    ],
    [
      "<13>1 - - - - - [text in brackets] text",
      { level: "info", message: "[text in brackets] text", attrs: USER_NOTICE },
    ],
    [
      "1 2026-10-11T22:14:15Z h a - - - no priority",
      { time: "2026-10-11T22:14:15.000Z", host: "h", service: "a", message: "no priority" },
    ],
    [
      "<13>1 yesterday h a - - - not a time",
      { level: "info", message: "1 yesterday h a - - - not a time", attrs: USER_NOTICE },
    ],
    [
      "<13>1 - h a - - -  two blanks",
      { host: "h", service: "a", level: "info", message: "two blanks", attrs: USER_NOTICE },
    ],
    [
      "<13>1 - h a - - - 日本語 😀\n",
      { host: "h", service: "a", level: "info", message: "日本語 😀", attrs: USER_NOTICE },
    ],
  ]);
});

describe("RFC 3164 and its relatives", () => {
  const at = "2026-10-11T22:14:15.000Z";
  check([
    [
      "<34>Oct 11 22:14:15 host su: 'su root' failed",
      {
        time: at,
        host: "host",
        service: "su",
        level: "fatal",
        message: "'su root' failed",
        attrs: AUTH_CRIT,
      },
    ],
    [
      "<34>Oct 11 22:14:15 host sshd[4721]: Accepted",
      {
        time: at,
        host: "host",
        service: "sshd",
        level: "fatal",
        message: "Accepted",
        attrs: { ...AUTH_CRIT, "syslog.procid": "4721" },
      },
    ],
    [
      "<34>Oct 11 22:14:15 host sshd[4721]:no blank",
      {
        time: at,
        host: "host",
        service: "sshd",
        level: "fatal",
        message: "no blank",
        attrs: { ...AUTH_CRIT, "syslog.procid": "4721" },
      },
    ],
    [
      "<13>Oct 11 22:14:15 192.0.2.1 Use the text!",
      { time: at, host: "192.0.2.1", level: "info", message: "Use the text!", attrs: USER_NOTICE },
    ],
    [
      "<13>Oct 11 22:14:15 su: no host",
      { time: at, service: "su", level: "info", message: "no host", attrs: USER_NOTICE },
    ],
    [
      "<13>Oct 11 22:14:15.123456 host a: b",
      {
        time: "2026-10-11T22:14:15.123Z",
        host: "host",
        service: "a",
        level: "info",
        message: "b",
        attrs: USER_NOTICE,
      },
    ],
    [
      "<13>2026-10-11T22:14:15.5+02:00 host a[1]: b",
      {
        time: "2026-10-11T20:14:15.500Z",
        host: "host",
        service: "a",
        level: "info",
        message: "b",
        attrs: { ...USER_NOTICE, "syslog.procid": "1" },
      },
    ],
    [
      "Oct 11 22:14:15 host kernel: [12.5] no priority",
      { time: at, host: "host", service: "kernel", message: "[12.5] no priority" },
    ],
    [
      "2026-10-11T22:14:15Z host cron[7]: no priority",
      { time: at, host: "host", service: "cron", message: "no priority", attrs: { "syslog.procid": "7" } },
    ],
    [
      "<13>Dec 31 23:59:59 host a: last year",
      {
        time: "2025-12-31T23:59:59.000Z",
        host: "host",
        service: "a",
        level: "info",
        message: "last year",
        attrs: USER_NOTICE,
      },
    ],
    [
      "<13>Nov 22 01:00:00 host a: a zone ahead",
      {
        time: "2026-11-22T01:00:00.000Z",
        host: "host",
        service: "a",
        level: "info",
        message: "a zone ahead",
        attrs: USER_NOTICE,
      },
    ],
    [
      "<13>Feb 29 10:00:00 host a: leap day",
      {
        time: "2024-02-29T10:00:00.000Z",
        host: "host",
        service: "a",
        level: "info",
        message: "leap day",
        attrs: USER_NOTICE,
      },
    ],
    [
      "<13>Oct 11 22:14:15 2025 host a: year behind",
      {
        time: "2025-10-11T22:14:15.000Z",
        host: "host",
        service: "a",
        level: "info",
        message: "year behind",
        attrs: USER_NOTICE,
      },
    ],
    [
      "<13>Oct 11 22:14:15 node1 Message forwarded from lpar: a: b",
      {
        time: at,
        host: "node1",
        level: "info",
        message: "Message forwarded from lpar: a: b",
        attrs: USER_NOTICE,
      },
    ],
    [
      "<13>Oct 11 22:14:15 Message forwarded from lpar: sshd[1]: b",
      {
        time: at,
        host: "lpar",
        service: "sshd",
        level: "info",
        message: "b",
        attrs: { ...USER_NOTICE, "syslog.procid": "1" },
      },
    ],
    [
      "<13>backup[12]: no time",
      {
        service: "backup",
        level: "info",
        message: "no time",
        attrs: { ...USER_NOTICE, "syslog.procid": "12" },
      },
    ],
    ["<13>only text", { level: "info", message: "only text", attrs: USER_NOTICE }],
  ]);
});

describe("network devices", () => {
  check([
    [
      "<189>123: *Mar  1 18:46:11.123: %SYS-5-CONFIG_I: Configured from console",
      {
        time: "2026-03-01T18:46:11.123Z",
        level: "info",
        message: "%SYS-5-CONFIG_I: Configured from console",
        attrs: { ...LOCAL7_NOTICE, "syslog.msgid": "SYS-5-CONFIG_I", "syslog.sequence": "123" },
      },
    ],
    [
      "<189>000123: sw1: .Mar  1 2025 18:46:11 EST: %LINK-3-UPDOWN: down",
      {
        time: "2025-03-01T23:46:11.000Z",
        host: "sw1",
        level: "info",
        message: "%LINK-3-UPDOWN: down",
        attrs: { ...LOCAL7_NOTICE, "syslog.msgid": "LINK-3-UPDOWN", "syslog.sequence": "000123" },
      },
    ],
    [
      "*Mar  1 18:46:11 UTC: %LINK-3-UPDOWN: down",
      {
        time: "2026-03-01T18:46:11.000Z",
        level: "error",
        message: "%LINK-3-UPDOWN: down",
        attrs: { "syslog.severity": "err", "syslog.msgid": "LINK-3-UPDOWN" },
      },
    ],
    [
      "<166>Mar 01 2025 12:00:00 fw1 : %ASA-6-302013: Built",
      {
        time: "2025-03-01T12:00:00.000Z",
        host: "fw1",
        level: "info",
        message: "%ASA-6-302013: Built",
        attrs: { ...LOCAL4_INFO, "syslog.msgid": "ASA-6-302013" },
      },
    ],
    [
      "<166>Mar 01 2025 12:00:00: %ASA-6-302013: Built",
      {
        time: "2025-03-01T12:00:00.000Z",
        level: "info",
        message: "%ASA-6-302013: Built",
        attrs: { ...LOCAL4_INFO, "syslog.msgid": "ASA-6-302013" },
      },
    ],
    [
      "<166>:Mar 01 12:00:00 CET: %ASA-6-302013: Built",
      {
        time: "2026-03-01T11:00:00.000Z",
        level: "info",
        message: "%ASA-6-302013: Built",
        attrs: { ...LOCAL4_INFO, "syslog.msgid": "ASA-6-302013" },
      },
    ],
    [
      "<189>: 2025 Mar  1 12:00:00 UTC: %ETHPORT-5-IF_UP: up",
      {
        time: "2025-03-01T12:00:00.000Z",
        level: "info",
        message: "%ETHPORT-5-IF_UP: up",
        attrs: { ...LOCAL7_NOTICE, "syslog.msgid": "ETHPORT-5-IF_UP" },
      },
    ],
    [
      "<134>1 1793712000.774247467 MX84 urls src=192.0.2.1:80",
      {
        time: "2026-11-03T13:20:00.774Z",
        host: "MX84",
        level: "info",
        message: "urls src=192.0.2.1:80",
        attrs: { "syslog.facility": "local0", "syslog.severity": "info" },
      },
    ],
  ]);
});

describe("what is not syslog is the message", () => {
  check(
    [
      "",
      "hello: world",
      "2 words",
      "<999>x",
      "<>",
      "<a>b",
      "<13",
      "{not json",
      "-",
      "<-1>x",
      "Oct 32 22:14:15 host a: b",
    ].map((text): [string, Expected] => [text, { message: text }]),
  );
  check([
    [
      "2026-10-11 22:14:15,123 ERROR main: failed",
      { time: "2026-10-11T22:14:15.123Z", message: "ERROR main: failed" },
    ],
    [
      "2026-10-11 22:14:15 something happened",
      { time: "2026-10-11T22:14:15.000Z", message: "something happened" },
    ],
  ]);
});

describe("CEF and JSON in the message", () => {
  check([
    [
      "<134>Oct 11 22:14:15 fw1 CEF:0|v|p|1|2|Name|8|src=192.0.2.7 cs1=a cs1Label=Rule",
      {
        time: "2026-10-11T22:14:15.000Z",
        host: "fw1",
        level: "error",
        message: "Name",
        ...{ source: "v p" },
        attrs: {
          cefVersion: 0,
          deviceVendor: "v",
          deviceProduct: "p",
          deviceVersion: "1",
          deviceEventClassId: "2",
          name: "Name",
          severity: 8,
          sourceAddress: "192.0.2.7",
          Rule: "a",
          "syslog.facility": "local0",
          "syslog.severity": "info",
        },
      },
    ],
    [
      "<13>Oct 11 22:14:15 fw1 a: CEF:0|v|p| cut",
      {
        time: "2026-10-11T22:14:15.000Z",
        host: "fw1",
        service: "a",
        level: "info",
        message: "CEF:0|v|p| cut",
        attrs: USER_NOTICE,
      },
    ],
    [
      '<13>Oct 11 22:14:15 h app[1]: @cee: {"msg":"paid","level":"error","order":{"id":7},"app":"other"}',
      {
        time: "2026-10-11T22:14:15.000Z",
        host: "h",
        service: "app",
        level: "error",
        message: "paid",
        attrs: { ...USER_NOTICE, "syslog.procid": "1", "order.id": 7, app: "other" },
      },
    ],
    [
      '<13>1 - h app - - - {"message":"paid","time":"2026-10-11T22:14:15.5Z","n":9007199254740993}',
      {
        time: "2026-10-11T22:14:15.500Z",
        host: "h",
        service: "app",
        level: "info",
        message: "paid",
        attrs: { ...USER_NOTICE, n: Number("9007199254740993") },
      },
    ],
    [
      "<13>1 - h app - - - {} and more",
      { host: "h", service: "app", level: "info", message: "{} and more", attrs: USER_NOTICE },
    ],
    [
      "<13>1 - h app - - - {}",
      { host: "h", service: "app", level: "info", message: "{}", attrs: USER_NOTICE },
    ],
    [
      "<13>1 - h app - - - @cee: [1]",
      { host: "h", service: "app", level: "info", message: "@cee: [1]", attrs: USER_NOTICE },
    ],
  ]);
});

describe("logplex leaves structured data out", () => {
  const asForm = (form: Rfc5424Form): RecordDecoder => {
    const records = new SyslogRecords({ now: () => RECEIVED_AT_MS });
    return {
      format: "test",
      decode: (body, writer) => records.write(body, writer, { peer: null, form }),
    };
  };
  test.each([
    ["- text", "text", "- text"],
    ['[a b="c"] text', "text", '[a b="c"] text'],
    ["text", "text", "text"],
  ])("%p", (rest, standard, without) => {
    const message = `<13>1 2026-10-11T22:14:15+00:00 host app web.1 - ${rest}`;
    expect(decodeEntries(asForm("standard"), message)[0]?.message).toBe(standard);
    const [entry] = decodeEntries(asForm("without structured data"), message);
    expect(entry).toMatchObject({
      message: without,
      host: "host",
      service: "app",
      attrs: { "syslog.procid": "web.1" },
    });
  });
});
