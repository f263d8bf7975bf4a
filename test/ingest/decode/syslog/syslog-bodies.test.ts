/** What programs say through syslog, taken apart like lines of their files. */
import { describe, expect, test } from "bun:test";
import { decodeMessage, PEER } from "./decoded-messages.ts";

const USER_NOTICE = { "syslog.facility": "user", "syslog.severity": "notice" };

interface Expected {
  readonly time: string;
  readonly message: string;
  readonly level: string;
  readonly service: string;
  readonly host: string;
  readonly attrs: Readonly<Record<string, unknown>>;
}

function check(cases: readonly (readonly [string, Expected])[]): void {
  test.each([...cases])("%s", (message, expected) => {
    const { ts, ...entry } = decodeMessage(message);
    expect({ time: new Date(Number(ts / 1_000_000n)).toISOString(), ...entry }).toEqual({ ...expected });
  });
}

test("a JSON object without a header names its own host, which says more than where it came from", () => {
  expect(decodeMessage('{"hostname":"node-1","msg":"m"}').host).toBe("node-1");
  expect(decodeMessage('{"msg":"m"}').host).toBe(PEER);
  expect(decodeMessage('<13>Oct 11 22:14:15 web-1 a: {"hostname":"node-1","msg":"m"}').host).toBe("web-1");
});

describe("what a program says is taken apart where it is certain", () => {
  check([
    [
      '<14>Oct 11 22:14:15 web-1 billing[7]: level=warn msg="slow answer" ms=812',
      {
        time: "2026-10-11T22:14:15.000Z",
        host: "web-1",
        service: "billing",
        level: "warn",
        message: "slow answer",
        attrs: { ms: 812, "syslog.facility": "user", "syslog.severity": "info", "syslog.procid": "7" },
      },
    ],
    [
      "<13>Oct 11 22:14:15 web-1 billing: level=warn time=2026-10-11T23:14:14 msg=slow",
      {
        time: "2026-10-11T22:14:15.000Z",
        host: "web-1",
        service: "billing",
        level: "warn",
        message: "slow",
        attrs: { ...USER_NOTICE, time: "2026-10-11T23:14:14" },
      },
    ],
    [
      "<13>Oct 11 22:14:15 web-1 billing: [WARN] slow answer",
      {
        time: "2026-10-11T22:14:15.000Z",
        host: "web-1",
        service: "billing",
        level: "warn",
        message: "slow answer",
        attrs: USER_NOTICE,
      },
    ],
    [
      "<13>Oct 11 22:14:15 web-1 billing: 2026-10-11 23:14:14,500 ERROR [main] a.b.C: cannot open",
      {
        // The program's clock has no zone, the header's time is the surer one.
        time: "2026-10-11T22:14:15.000Z",
        host: "web-1",
        service: "billing",
        level: "error",
        message: "cannot open",
        attrs: { ...USER_NOTICE, "thread.name": "main", logger: "a.b.C" },
      },
    ],
    [
      "<13>Oct 11 22:14:15 web-1 billing: 2026-10-11T22:14:14.500Z ERROR [main] a.b.C: cannot open",
      {
        time: "2026-10-11T22:14:14.500Z",
        host: "web-1",
        service: "billing",
        level: "error",
        message: "cannot open",
        attrs: { ...USER_NOTICE, "thread.name": "main", logger: "a.b.C" },
      },
    ],
    [
      "<13>Oct 11 22:14:15 web-1 billing: the answer was ERROR: slow",
      {
        time: "2026-10-11T22:14:15.000Z",
        host: "web-1",
        service: "billing",
        level: "info",
        message: "the answer was ERROR: slow",
        attrs: USER_NOTICE,
      },
    ],
  ]);

  test("and nothing that one sender says counts for another", () => {
    const [, row] = [
      "<13>Oct 11 22:14:15 a iis: #Fields: date time cs-method cs-uri-stem",
      "<13>Oct 11 22:14:15 b shop: 2026-10-11 01:02:03 GET /cart",
    ].map(decodeMessage);
    expect([row?.message, row?.attrs["http.request.method"]]).toEqual(["GET /cart", undefined]);
  });
});
