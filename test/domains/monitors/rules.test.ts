import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { hashToken, sameTokenHash } from "../../../src/access/secret-token.ts";
import { settingsIssues } from "../../../src/domains/monitors/rules.ts";
import {
  checkSpecOf,
  columnsOf,
  mintHeartbeatToken,
  settingsOf,
} from "../../../src/domains/monitors/secrets.ts";
import type { MonitorRow } from "../../../src/domains/monitors/store.ts";
import { DEFAULTS, type MonitorSettings } from "../../../src/domains/monitors/types.ts";
import { MONITOR_TYPES } from "../../../src/probes/check.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { LEAST } from "./monitor-app.ts";

const settings: fc.Arbitrary<MonitorSettings> = fc
  .record({
    type: fc.constantFrom(...MONITOR_TYPES),
    port: fc.constantFrom(null, 443),
    keyword: fc.constantFrom(null, "", "ok"),
    steps: fc.constantFrom<MonitorSettings["steps"][]>(null, [
      { name: "a", method: "GET", url: "https://a.example" },
    ]),
    regions: fc.constantFrom<MonitorSettings["regions"][]>(null, ["local"], ["local", "weur"]),
    headers: fc.option(fc.dictionary(fc.constantFrom("Accept", "X-A", "bad name", ""), fc.string())),
    body: fc.option(fc.string()),
  })
  .map((fields) => ({ ...LEAST, ...DEFAULTS, ...fields }));
const patches = fc.record(
  {
    type: fc.constantFrom(...MONITOR_TYPES),
    port: fc.constantFrom(null, 25),
    keyword: fc.constantFrom(null, "ok"),
    regions: fc.constant<MonitorSettings["regions"]>(["weur"]),
  },
  { requiredKeys: [] },
);

describe("the rules of a monitor as a whole", () => {
  test("name each field that is missing or wrong, and no other", () => {
    fc.assert(
      fc.property(settings, (one) => {
        const fields = settingsIssues(one).map(({ path }) => path.split("/")[1]);
        expect(fields.includes("keyword")).toBe(one.type === "keyword" && (one.keyword ?? "") === "");
        expect(fields.includes("port")).toBe(
          (one.type === "tcp" || one.type === "port") && one.port === null,
        );
        expect(fields.includes("steps")).toBe(one.type === "multi_step" && one.steps === null);
        const isFar = one.regions?.includes("weur") ?? false;
        expect(fields.includes("regions")).toBe(isFar && one.type !== "http" && one.type !== "https");
        const names = Object.keys(one.headers ?? {});
        expect(fields.includes("headers")).toBe(names.includes("bad name") || names.includes(""));
      }),
    );
  });

  test("judge what a change makes of it, in whatever steps it is made", () => {
    fc.assert(
      fc.property(settings, patches, patches, (before, first, second) => {
        const inTwo = settingsIssues({ ...{ ...before, ...first }, ...second });
        expect(settingsIssues({ ...before, ...{ ...first, ...second } })).toEqual(inTwo);
      }),
    );
  });
});

describe("what is stored of a monitor", () => {
  /** The row that a table would have. */
  const rowOf = (one: MonitorSettings): MonitorRow => ({
    ...columnsOf(one, TEST_BOX),
    ...mintHeartbeatToken(TEST_BOX).columns,
    id: "1",
    organization_id: 7,
    resumed_at: null,
    shard: 1,
    created_at: new Date(0),
    updated_at: new Date(0),
  });

  test("comes back as it was set, and a check knows all of it that it needs", () => {
    fc.assert(
      fc.property(settings, (one) => {
        const row = rowOf(one);
        expect(settingsOf(row, TEST_BOX)).toEqual(one);
        if (one.type === "heartbeat") return expect(() => checkSpecOf(row, TEST_BOX)).toThrow("received");
        return expect(checkSpecOf(row, TEST_BOX)).toEqual({
          type: one.type,
          url: one.url,
          timeoutMs: one.timeoutMs,
          degradedResponseTimeMs: null,
          method: null,
          headers: one.headers ?? {},
          body: one.body,
          followRedirects: true,
          tlsSkipVerify: false,
          expectedStatusCode: null,
          port: one.port,
          keyword: one.keyword,
          keywordMatchType: "contains",
          expiryWarnDays: 14,
          steps: one.steps ?? [],
        });
      }),
    );
  });

  test("of a heartbeat's token is its hash, by which no other token is found", () => {
    const tokens = Array.from({ length: 200 }, () => mintHeartbeatToken(TEST_BOX));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(200);
    for (const { token, columns } of tokens) {
      expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(sameTokenHash(columns.heartbeat_token_hash, hashToken(token))).toBe(true);
      expect(columns.heartbeat_token_hash.length).toBe(32);
      expect(Buffer.from(columns.sealed_heartbeat_token).includes(token)).toBe(false);
    }
  });
});
