import { expect, test } from "bun:test";
import fc from "fast-check";
import type { CheckStatus } from "../../src/probes/check.ts";
import { quorumOf } from "../../src/uptime/quorum.ts";

const statuses = fc.constantFrom<CheckStatus>("up", "degraded", "down", "unknown");
const report = (status: CheckStatus) => ({ status, error: null, certificateNotAfter: null });

test("more than half of those that know something make it down, a dissenter degraded, and silence unknown", () => {
  fc.assert(
    fc.property(fc.array(statuses, { maxLength: 6 }), (all) => {
      const count = (status: CheckStatus): number => all.filter((one) => one === status).length;
      const known = all.length - count("unknown");
      const expected =
        known === 0
          ? "unknown"
          : count("down") * 2 > known
            ? "down"
            : count("down") + count("degraded") > 0
              ? "degraded"
              : "up";
      expect(quorumOf(all.map(report)).status).toBe(expected);
    }),
  );
});

test("a lone dissenter among three is no outage, one of two neither", () => {
  expect(quorumOf([report("up"), report("down"), report("up")]).status).toBe("degraded");
  expect(quorumOf([report("up"), report("down")]).status).toBe("degraded");
  expect(quorumOf([report("down"), report("unknown")]).status).toBe("down");
});

test("the reason is that of a region that says so, the certificate the one that ends first", () => {
  const quorum = quorumOf([
    { status: "up", error: null, certificateNotAfter: 200 },
    { status: "down", error: "timeout", certificateNotAfter: null },
    { status: "down", error: "timeout", certificateNotAfter: 100 },
  ]);
  expect(quorum).toEqual({ status: "down", error: "timeout", certificateNotAfter: 100 });
  expect(quorumOf([{ status: "unknown", error: "plan_limit", certificateNotAfter: null }]).error).toBe(
    "plan_limit",
  );
});
