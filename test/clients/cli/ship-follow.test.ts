import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { eventually } from "../../harness/eventually.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliProcess, type CliUser, cliResult, spawnCli } from "./cli-process.ts";
import { type FlakyPeer, startFlakyPeer } from "./flaky-peer.ts";
import { countsOf, differences } from "./found-lines.ts";

const TIMEOUT_MS = 120_000;

let peer: FlakyPeer;

beforeAll(async () => {
  peer = await startFlakyPeer();
});

afterAll(() => peer[Symbol.asyncDispose]());

/** A user of the suite's peer, a log file of theirs, and what is written to it. */
class FollowedLog {
  readonly user: CliUser;
  readonly path: string;
  readonly name: string;
  readonly written: string[] = [];

  constructor(home: TemporaryDirectory, name: string) {
    this.user = { directory: home.path, env: { OBS_URL: peer.url, OBS_TOKEN: `obs_${"A".repeat(43)}` } };
    this.name = name;
    this.path = join(home.path, `${name}.log`);
  }

  append(count: number, path = this.path): void {
    const lines = Array.from({ length: count }, (_, index) => `${this.name} ${this.written.length + index}`);
    this.written.push(...lines);
    appendFileSync(path, lines.map((line) => `${line}\n`).join(""));
  }

  get stored(): string[] {
    return peer.stored.filter((message) => message.startsWith(`${this.name} `));
  }

  async arrived(): Promise<void> {
    await eventually("every line", () => this.stored.length >= this.written.length);
    expect(differences(countsOf(this.written), countsOf(this.stored))).toEqual([]);
  }

  follow(...args: string[]): CliProcess {
    return spawnCli(this.user, ["ship", "-f", ...(args.length === 0 ? [this.path] : args)]);
  }
}

async function interrupt(child: CliProcess): Promise<string> {
  child.kill("SIGINT");
  const { exitCode, stderr } = await cliResult(child);
  expect(exitCode).toBe(130);
  return stderr;
}

test(
  "a file that grows is followed, and a line is sent only when it has ended",
  async () => {
    using home = temporaryDirectory();
    const log = new FollowedLog(home, "grows");
    log.append(3);
    const child = log.follow();
    await log.arrived();
    for (let round = 0; round < 3; round++) {
      log.append(5);
      await log.arrived();
    }
    appendFileSync(log.path, `grows ${log.written.length}`);
    log.written.push(`grows ${log.written.length} and its end`);
    const requests = peer.requests;
    const other = join(home.path, "other.log");
    const beside = new FollowedLog(home, "beside");
    beside.append(1, other);
    const second = spawnCli(beside.user, ["ship", other]);
    await second.exited;
    await eventually("another file's request", () => peer.requests > requests);
    expect(log.stored.length).toBe(log.written.length - 1);
    appendFileSync(log.path, " and its end\n");
    await log.arrived();
    expect(await interrupt(child)).toEndWith("obs: interrupted; run the same command again to go on\n");
    await log.arrived();
  },
  TIMEOUT_MS,
);

test(
  "a rotation by renaming loses and doubles nothing, also what is written to the old file afterwards",
  async () => {
    using home = temporaryDirectory();
    const log = new FollowedLog(home, "rotates");
    log.append(10);
    const child = log.follow();
    await log.arrived();
    for (let rotation = 0; rotation < 2; rotation++) {
      const old = `${log.path}.${rotation}`;
      log.append(4);
      renameSync(log.path, old);
      log.append(3, old);
      log.append(6);
      await log.arrived();
      log.append(2, old);
      await log.arrived();
    }
    await interrupt(child);
    await log.arrived();
  },
  TIMEOUT_MS,
);

test(
  "a truncation is noticed, however much has been written since, and begins the file anew",
  async () => {
    using home = temporaryDirectory();
    const log = new FollowedLog(home, "truncates");
    log.append(40);
    const child = log.follow();
    await log.arrived();
    // As logrotate's copytruncate does it.
    copyFileSync(log.path, `${log.path}.1`);
    truncateSync(log.path, 0);
    log.append(2);
    await log.arrived();
    // Longer than what was read, so that its size tells nothing.
    const lines = Array.from({ length: 90 }, () => `truncates ${log.written.push("") - 1}`);
    log.written.splice(-90, 90, ...lines);
    writeFileSync(log.path, lines.map((line) => `${line}\n`).join(""));
    await log.arrived();
    const told = await interrupt(child);
    expect(told).toContain(`obs: ${log.path} was truncated; going on from its beginning\n`);
    await log.arrived();
  },
  TIMEOUT_MS,
);

test(
  "a run that is killed is gone on with, through a rotation that happened meanwhile",
  async () => {
    using home = temporaryDirectory();
    const log = new FollowedLog(home, "killed");
    log.append(10);
    for (let kill = 0; kill < 3; kill++) {
      const child = log.follow();
      log.append(700);
      await eventually("some of it", () => log.stored.length > log.written.length - 700);
      child.kill("SIGKILL");
      await child.exited;
      log.append(5);
      renameSync(log.path, `${log.path}.${kill}`);
      log.append(5);
    }
    const child = log.follow();
    await log.arrived();
    await interrupt(child);
    await log.arrived();
  },
  TIMEOUT_MS,
);

test(
  "an answer that was lost is recognised after a kill although more has been written since",
  async () => {
    using home = temporaryDirectory();
    const log = new FollowedLog(home, "lost");
    log.append(1);
    // Everything is stored, and no answer arrives.
    peer.fault = () => ({ kind: "drop", stored: true });
    // What is complete and the last entry go out apart, and all of it stays on its way.
    const child = log.follow(log.path, "--concurrency", "16");
    for (let write = 0; write < 3; write++) {
      await eventually("it is stored", () => log.stored.length === log.written.length);
      log.append(3);
    }
    await eventually("it is stored", () => log.stored.length === log.written.length);
    child.kill("SIGKILL");
    await child.exited;
    peer.fault = () => ({ kind: "none" });
    log.append(50);
    const again = log.follow();
    await log.arrived();
    await interrupt(again);
    await log.arrived();
  },
  TIMEOUT_MS,
);

test(
  "a pattern takes in files that come later, and a name waits for its file",
  async () => {
    using home = temporaryDirectory();
    const [first, second, named] = ["first", "second", "named"].map((name) => new FollowedLog(home, name));
    if (first === undefined || second === undefined || named === undefined) throw new Error("three logs");
    named.append(0, join(home.path, "named.txt"));
    first.append(3);
    const child = first.follow("*.log", "named.txt.1");
    await first.arrived();
    second.append(4);
    named.append(2, join(home.path, "named.txt.1"));
    first.append(1);
    await Promise.all([first.arrived(), second.arrived(), named.arrived()]);
    const told = await interrupt(child);
    expect(told).toContain("named.txt.1; waiting for it\n");
    expect(told).toContain("shipped 10 lines of 3 files, ");
  },
  TIMEOUT_MS,
);

test("the state of a run that was interrupted is where its lines end", async () => {
  using home = temporaryDirectory();
  const log = new FollowedLog(home, "recorded");
  log.append(7);
  const child = log.follow();
  await log.arrived();
  await interrupt(child);
  const states = join(home.path, "state/obs/ship");
  expect(existsSync(states)).toBe(true);
  const [name = ""] = readdirSync(states).filter((entry) => entry.endsWith(".json"));
  expect(JSON.parse(readFileSync(join(states, name), "utf8"))).toMatchObject({
    position: { offset: readFileSync(log.path).length, line: 7 },
    cuts: [],
  });
});
