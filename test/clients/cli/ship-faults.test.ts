import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../harness/eventually.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliUser, cliResult, runCli, spawnCli } from "./cli-process.ts";
import { type Fault, type FlakyPeer, startFlakyPeer } from "./flaky-peer.ts";
import { countsOf, differences } from "./found-lines.ts";

const TOKEN = `obs_${"t".repeat(43)}`;
const NONE: Fault = { kind: "none" };

function userOf(home: TemporaryDirectory, peer: Pick<FlakyPeer, "url">): CliUser & { file: string } {
  return {
    directory: home.path,
    env: { OBS_URL: peer.url, OBS_TOKEN: TOKEN },
    file: join(home.path, "app.log"),
  };
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${index} GET /item/${index % 97} é`);
}

function writeLines(file: string, lines: readonly string[]): void {
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
}

test("refusals, limits and broken connections at random neither lose nor double a line", async () => {
  using home = temporaryDirectory();
  const faults: readonly Fault[] = [
    { kind: "refuse", status: 503, headers: { "retry-after": "0" } },
    { kind: "refuse", status: 429, headers: { "retry-after": "1" } },
    { kind: "refuse", status: 502 },
    { kind: "drop", stored: false },
    { kind: "drop", stored: true },
  ];
  let seed = 7;
  await using peer = await startFlakyPeer(() => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % 100 < 15 ? (faults[seed % faults.length] ?? NONE) : NONE;
  });
  const user = userOf(home, peer);
  const lines = numbered(20_000);
  writeLines(user.file, lines);
  const { exitCode, stdout, stderr } = await runCli(user, ["ship", user.file, "--json", "--batch", "200"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(differences(countsOf(lines), countsOf(peer.stored))).toEqual([]);
  const summary: { retries: number } = JSON.parse(stdout);
  expect(summary.retries).toBe(peer.requests - 100);
});

test("a run killed before it has recorded anything is continued without a repetition", async () => {
  using home = temporaryDirectory();
  const killed = Promise.withResolvers<void>();
  // The first two batches are stored and their answers lost with the process.
  await using peer = await startFlakyPeer(async () => {
    await killed.promise;
    return NONE;
  });
  const user = userOf(home, peer);
  const lines = numbered(5_000);
  writeLines(user.file, lines);
  const child = spawnCli(user, ["ship", user.file]);
  await eventually("requests are on their way", () => peer.requests >= 2);
  child.kill("SIGKILL");
  await child.exited;
  killed.resolve();
  await eventually("they are stored", () => peer.stored.length >= 1000);
  const { exitCode } = await runCli(user, ["ship", user.file]);
  expect(exitCode).toBe(0);
  expect(differences(countsOf(lines), countsOf(peer.stored))).toEqual([]);
});

test("a limit told as a date, or only as the time it ends, is waited for and not longer", async () => {
  using home = temporaryDirectory();
  const inASecond = (): number => Math.ceil(Date.now() / 1000) + 1;
  await using peer = await startFlakyPeer((request) => {
    if (request === 1)
      return {
        kind: "refuse",
        status: 429,
        headers: { "retry-after": new Date(inASecond() * 1000).toUTCString() },
      };
    if (request === 2)
      return { kind: "refuse", status: 429, headers: { "x-ratelimit-reset": String(inASecond()) } };
    return NONE;
  });
  const user = userOf(home, peer);
  writeLines(user.file, ["one line"]);
  const { exitCode, stderr } = await runCli(user, ["ship", user.file]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(peer.stored).toEqual(["one line"]);
});

test("an interrupt ends a run whose server stays away, at once and with 130", async () => {
  using home = temporaryDirectory();
  await using peer = await startFlakyPeer(() => ({
    kind: "refuse",
    status: 503,
    headers: { "retry-after": "100" },
  }));
  const user = userOf(home, peer);
  writeLines(user.file, numbered(10));
  const child = spawnCli(user, ["ship", user.file]);
  await eventually("it waits to try again", () => peer.requests >= 1);
  child.kill("SIGINT");
  const { exitCode, stderr } = await cliResult(child);
  expect(exitCode).toBe(130);
  expect(stderr).toContain("run the same command again to go on");
  peer.fault = () => NONE;
  expect((await runCli(user, ["ship", user.file])).exitCode).toBe(0);
  expect(differences(countsOf(numbered(10)), countsOf(peer.stored))).toEqual([]);
});

test("SIGTERM ends a run that waits for standard input, with 143 and everything sent that had come", async () => {
  using home = temporaryDirectory();
  await using peer = await startFlakyPeer();
  const { OBS_URL = "", OBS_TOKEN = "" } = userOf(home, peer).env ?? {};
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "../../../clients/cli/main.ts"), "ship", "-"],
    {
      env: { PATH: process.env.PATH ?? "", HOME: home.path, OBS_URL, OBS_TOKEN },
      stdin: "pipe",
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  child.stdin.write("first\nsecond\nnot ended yet");
  child.stdin.flush();
  await eventually("whole lines go out without the end of the input", () => peer.stored.length === 2);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(143);
  expect(peer.stored).toEqual(["first", "second", "not ended yet"]);
  child.stdin.end();
});

test("giving up says why in one line and leaves the rest for the next run", async () => {
  using home = temporaryDirectory();
  await using peer = await startFlakyPeer((request) =>
    request <= 3 ? NONE : { kind: "refuse", status: 503 },
  );
  const user = userOf(home, peer);
  const lines = numbered(4000);
  writeLines(user.file, lines);
  const args = ["ship", user.file, "--give-up", "1"];
  const { exitCode, stderr } = await runCli(user, args);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^obs: refused with 503 \(TEST, 503\) \(gave up after \d s; .*\)\n$/);
  peer.fault = () => NONE;
  expect((await runCli(user, args)).exitCode).toBe(0);
  expect(differences(countsOf(lines), countsOf(peer.stored))).toEqual([]);
});

test("a token that is not accepted ends the run at the first request", async () => {
  using home = temporaryDirectory();
  await using peer = await startFlakyPeer(() => ({ kind: "refuse", status: 401 }));
  const user = userOf(home, peer);
  writeLines(user.file, ["a line"]);
  const { exitCode, stderr } = await runCli(user, ["ship", user.file]);
  expect(exitCode).toBe(1);
  expect(stderr).toBe('obs: refused with 401 (UNAUTHENTICATED, 401): run "obs login", or check OBS_TOKEN\n');
  expect(peer.requests).toBe(1);
});

test("a state directory that cannot be written is told in one line", async () => {
  using home = temporaryDirectory();
  await using peer = await startFlakyPeer();
  const user = userOf(home, peer);
  writeLines(user.file, ["a line"]);
  writeFileSync(join(home.path, "state"), "a file where a folder is needed");
  const { exitCode, stderr } = await runCli(user, ["ship", user.file]);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^obs: cannot [^\n]*\n$/);
});

test("two runs of one file at the same time do not double it", async () => {
  using home = temporaryDirectory();
  const both = Promise.withResolvers<void>();
  await using peer = await startFlakyPeer(async () => {
    await both.promise;
    return NONE;
  });
  const user = userOf(home, peer);
  const lines = numbered(2000);
  writeLines(user.file, lines);
  const first = spawnCli(user, ["ship", user.file]);
  await eventually("the first sends", () => peer.requests >= 1);
  const second = await runCli(user, ["ship", user.file]);
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toContain("another");
  both.resolve();
  expect(await first.exited).toBe(0);
  expect(differences(countsOf(lines), countsOf(peer.stored))).toEqual([]);
});
