import { describe, expect, test } from "bun:test";
import { compileKql, EVERY_TABLE, scannedTime } from "../../../query/index.ts";

const NOW_NS = 1_750_000_000_000_000_000n;
const HOUR_NS = 3_600_000_000_000n;
const at = (text: string): bigint => BigInt(Date.parse(text)) * 1_000_000n;
const MARCH = at("2026-03-01T00:00:00Z");
const APRIL = at("2026-04-01T00:00:00Z");
const ALL = { from: null, to: null };

function scanned(text: string) {
  const compiled = compileKql(text, { nowNs: NOW_NS });
  if (!compiled.ok) throw new Error(`${text}: ${compiled.diagnostics[0]?.message}`);
  return scannedTime(compiled.query.relation);
}

describe("the time that a plan reads", () => {
  test.each([
    ["logs | where ts > ago(1h) | count", { from: NOW_NS - HOUR_NS, to: null }],
    [
      "logs | where TimeGenerated between (datetime(2026-03-01) .. datetime(2026-04-01))",
      { from: MARCH, to: APRIL },
    ],
    [
      "logs | where datetime(2026-03-01) <= ts and level == 'error' and ts < datetime(2026-04-01)",
      { from: MARCH, to: APRIL },
    ],
    ["logs | where ts == datetime(2026-03-01)", { from: MARCH, to: MARCH }],
    [
      "logs | extend a = 1 | where a == 1 | where ts >= datetime(2026-03-01) | summarize count()",
      { from: MARCH, to: null },
    ],
    [
      "logs | project t = ts, level | sort by level asc | where t >= datetime(2026-03-01)",
      { from: MARCH, to: null },
    ],
    [
      "let f = logs | where ts < datetime(2026-04-01); f | where ts > datetime(2026-03-01)",
      { from: MARCH, to: APRIL },
    ],
  ])("`%s` is bounded by its conditions", (text, expected) => {
    expect(scanned(text)).toEqual(expected);
  });

  test.each([
    "logs | where ts > datetime(2026-03-01) or level == 'error'",
    "logs | where not(ts > datetime(2026-03-01))",
    "logs | where ts != datetime(2026-03-01)",
    "logs | where receivedAt > datetime(2026-03-01)",
    "logs | extend ts = receivedAt | where ts > datetime(2026-03-01)",
    "logs | project ts = receivedAt, old = ts | where ts > datetime(2026-03-01)",
    "logs | where ts > receivedAt",
    "logs | summarize ts = max(ts) by host | where ts > datetime(2026-03-01)",
    "logs | sort by id asc | take 5 | where ts > datetime(2026-03-01)",
    "logs | sort by ts asc | extend before = prev(host) | where ts > datetime(2026-03-01)",
  ])("`%s` may need any entry", (text) => {
    expect(scanned(text)).toEqual(ALL);
  });

  test("is that of all its tables together, those of subqueries included", () => {
    const early = "logs | where ts < datetime(2026-03-01)";
    const late = "logs | where ts > datetime(2026-04-01)";
    for (const text of [
      `union (${early}), (${late})`,
      `${late} | join kind=inner (${early}) on host`,
      `${late} | where host in ((${early} | project host))`,
      `${late} | where ts > toscalar(${early} | summarize max(ts))`,
    ])
      expect([text, scanned(text)]).toEqual([text, ALL]);
    const march = "logs | where ts between (datetime(2026-03-01) .. datetime(2026-03-02))";
    expect(scanned(`union (${march}), (logs | where ts == datetime(2026-04-01))`)).toEqual({
      from: MARCH,
      to: APRIL,
    });
  });

  test("is none where nothing is read, or nothing can be", () => {
    expect(scanned("print 1")).toBeNull();
    expect(scanned("logs | where ts < datetime(2026-03-01) and ts > datetime(2026-04-01)")).toBeNull();
  });
});

test("of a plan that reads checks is that of its logs alone, for nothing else is archived", () => {
  const timeOf = (text: string) => {
    const compiled = compileKql(text, { nowNs: 0n, tables: EVERY_TABLE });
    if (!compiled.ok) throw new Error("the query is wrong");
    return scannedTime(compiled.query.relation);
  };
  expect(timeOf("checks | count")).toBeNull();
  const logs = "logs | where ts > datetime(2026-03-01)";
  expect(timeOf(`union (${logs}), (checks | where startedAt > datetime(2020-01-01))`)).toEqual(timeOf(logs));
});
