import { expect, test } from "bun:test";
import type { CheckError, CheckOutcome, RunCheck } from "../../../src/probes/check.ts";
import { besideCanaries } from "../../../src/probes/schedule/uplink.ts";
import { specOf } from "../checking.ts";

const SPEC = specOf({ type: "http", url: "http://shop.example/", timeoutMs: 1_000 });

/** A world in which the hosts named are reached and the others fail so. */
function world(reached: readonly string[], error: CheckError = "timeout") {
  const asked: string[] = [];
  const run: RunCheck = async ({ url }) => {
    asked.push(url);
    const isUp = reached.includes(url);
    const outcome: CheckOutcome = {
      status: isUp ? "up" : "down",
      error: isUp ? null : error,
      durationMs: 1,
      phases: { dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0 },
      statusCode: null,
      certificateNotAfter: null,
      failedStep: null,
    };
    return outcome;
  };
  return { run, asked };
}

const CANARIES = [
  { host: "one.example", port: 443 },
  { host: "two.example", port: 443 },
];

test("a target is not down when every canary fails, too: then it is the own line", async () => {
  const outcome = await besideCanaries(world([]).run, CANARIES)(SPEC);
  expect(outcome).toMatchObject({ status: "unknown", error: "own_uplink" });
});

test("it is down when one canary answers, when it answers wrongly, and where there are no canaries", async () => {
  expect((await besideCanaries(world(["two.example"]).run, CANARIES)(SPEC)).status).toBe("down");
  expect((await besideCanaries(world([], "status_code").run, CANARIES)(SPEC)).status).toBe("down");
  expect((await besideCanaries(world([]).run, [])(SPEC)).status).toBe("down");
});

test("canaries are asked once for many failures at a time, not at all without one, and again later", async () => {
  let nowMs = 0;
  const { run, asked } = world([]);
  const check = besideCanaries(run, CANARIES, () => nowMs);
  await Promise.all(Array.from({ length: 50 }, () => check(SPEC)));
  expect(asked.filter((url) => url !== SPEC.url)).toEqual(["one.example", "two.example"]);
  nowMs = 60_000;
  await check(SPEC);
  expect(asked.filter((url) => url !== SPEC.url).length).toBe(4);
  const up = world([SPEC.url]);
  await besideCanaries(up.run, CANARIES)(SPEC);
  expect(up.asked).toEqual([SPEC.url]);
});
