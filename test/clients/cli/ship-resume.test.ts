import { beforeAll, expect, test } from "bun:test";
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { MESSAGE_MAX_CHARS } from "../../../clients/cli/limits.ts";
import { eventually } from "../../harness/eventually.ts";
import { makeToken, startServer } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliProcess, type CliUser, cliResult, obs, runCli, spawnCli } from "./cli-process.ts";
import { countsOf, differences, findEntries, linesOfEntries, linesOfText } from "./found-lines.ts";

const TIMEOUT_MS = 120_000;
/** In so small batches that a run is long under way. */
const MANY_LINES = 8_000;
const SMALL_BATCHES = ["--batch", "40"];

let server: SharedServer;
let token: string;

beforeAll(async () => {
  server = await sharedServer();
  token = await makeToken(server.url);
});

/** A user of the suite's server with a state of its own, and a file to ship. */
function makeUser(home: TemporaryDirectory): CliUser & { file: string } {
  return {
    directory: home.path,
    env: { OBS_URL: server.url, OBS_TOKEN: token },
    file: join(home.path, "app.log"),
  };
}

function linesFrom(first: number, count: number): string {
  const lines = Array.from(
    { length: count },
    (_, index) => `${first + index} GET /item/${(first + index) % 997} 200 é\n`,
  );
  return lines.join("");
}

/** Bytes of the only shipped file that are recorded as acknowledged. */
function recordedOffset(user: CliUser): number {
  const states = join(user.directory, "state", "obs", "ship");
  try {
    const [name] = readdirSync(states).filter((entry) => entry.endsWith(".json"));
    if (name === undefined) return 0;
    const state: { position: { offset: number } } = JSON.parse(readFileSync(join(states, name), "utf8"));
    return state.position.offset;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return 0;
    throw error;
  }
}

/** Starts shipping and resolves when at least one more batch is recorded; the process must not have ended by then. */
async function shipUntilRecorded(
  user: CliUser,
  args: readonly string[],
  beyond = recordedOffset(user),
): Promise<CliProcess> {
  const child = spawnCli(user, args);
  await eventually("a recorded batch", () => recordedOffset(user) > beyond);
  expect(child.exitCode).toBeNull();
  return child;
}

function entriesOf(line: string): number {
  return line.length <= MESSAGE_MAX_CHARS ? 1 : Math.ceil([...line].length / MESSAGE_MAX_CHARS);
}

async function expectStored(user: CliUser, service: string, text: string): Promise<void> {
  const lines = linesOfText(text);
  const entries = lines.reduce((sum, line) => sum + entriesOf(line), 0);
  const found = linesOfEntries(await findEntries(user, service, entries));
  expect(differences(countsOf(lines), countsOf(found))).toEqual([]);
}

async function shippedLines(user: CliUser, args: readonly string[]): Promise<number> {
  const summary: { lines: number } = JSON.parse(await obs(user, [...args, "--json"]));
  return summary.lines;
}

test(
  "a run that is killed again and again is continued, and every line is stored exactly once",
  async () => {
    using home = temporaryDirectory();
    const user = makeUser(home);
    const text = linesFrom(0, MANY_LINES);
    writeFileSync(user.file, text);
    const args = ["ship", user.file, "--service", "killed", ...SMALL_BATCHES];
    for (let kill = 0; kill < 4; kill++) {
      const child = await shipUntilRecorded(user, args);
      child.kill("SIGKILL");
      await child.exited;
    }
    const offset = recordedOffset(user);
    expect(offset).toBeLessThan(Buffer.byteLength(text));
    const rest = await shippedLines(user, args);
    expect(rest).toBe(linesOfText(Buffer.from(text).subarray(offset).toString()).length);
    await expectStored(user, "killed", text);
    expect(await shippedLines(user, args)).toBe(0);
  },
  TIMEOUT_MS,
);

test(
  "a killed run in the middle of long lines is continued, and every part is stored exactly once",
  async () => {
    using home = temporaryDirectory();
    const user = makeUser(home);
    const lines = Array.from({ length: 18 }, (_, index) => `${index} é`.repeat(60_000 + index * 1000));
    const text = `${lines.join("\r\nshort\r\n")}\r\n`;
    writeFileSync(user.file, text);
    const args = ["ship", user.file, "--service", "killed-long", "--batch", "7", "--concurrency", "8"];
    for (let kill = 0; kill < 3; kill++) {
      const child = await shipUntilRecorded(user, args);
      child.kill("SIGKILL");
      await child.exited;
    }
    await obs(user, args);
    await expectStored(user, "killed-long", text);
  },
  TIMEOUT_MS,
);

test(
  "a run that is killed in the middle of stacks is continued, and each is stored once, whole and of its year",
  async () => {
    using home = temporaryDirectory();
    const user = makeUser(home);
    const stacks = Array.from({ length: 1000 }, (_, index) => {
      const frames = index % 100 === 50 ? 1500 : 6;
      const lines = Array.from({ length: frames }, (_, frame) => `\tat a.B.c${index}(B.java:${frame})`);
      return [`boom ${index}`, ...lines].join("\n");
    });
    const text = stacks.map((stack) => `Mar  2 03:04:05 web app[7]: ${stack}\n`).join("");
    writeFileSync(user.file, text);
    const spring = new Date("2011-04-01T00:00:00Z");
    utimesSync(user.file, spring, spring);
    const args = ["ship", user.file, "--source", "stacks", "--batch", "9", "--zone", "UTC"];
    for (let kill = 0; kill < 4; kill++) {
      const child = await shipUntilRecorded(user, args);
      child.kill("SIGKILL");
      await child.exited;
      // Whoever touches the file meanwhile does not make its lines those of another year.
      utimesSync(user.file, new Date(), new Date());
    }
    await obs(user, args);
    const query = ["search", "--all", "--json", "--query", 'source == "stacks"'];
    const last = ["search", "--limit", "1", "--query", `${query.at(-1)} and message has "999"`];
    await eventually("the last stack", async () => (await obs(user, last)).includes("boom 999"));
    const found = (await obs(user, query))
      .trimEnd()
      .split("\n")
      .map((line): Stored => JSON.parse(line));
    expect(new Set(found.map(({ ts, service }) => `${ts} ${service}`))).toEqual(
      new Set(["2011-03-02T03:04:05.000Z app"]),
    );
    const whole = Map.groupBy(found, ({ attrs }, index) => attrs._line ?? -index - 1);
    const messages = [...whole.values()].map((parts) =>
      parts
        .toSorted((a, b) => (a.attrs._part ?? 0) - (b.attrs._part ?? 0))
        .map(({ message }) => message)
        .join("\n"),
    );
    expect(differences(countsOf(stacks), countsOf(messages))).toEqual([]);
  },
  TIMEOUT_MS,
);

interface Stored {
  readonly ts: string;
  readonly service: string;
  readonly message: string;
  readonly attrs: { readonly _line?: number; readonly _part?: number };
}

test(
  "an interrupt ends with 130 and the next run goes on from there",
  async () => {
    using home = temporaryDirectory();
    const user = makeUser(home);
    const text = linesFrom(0, MANY_LINES / 2);
    writeFileSync(user.file, text);
    const args = ["ship", user.file, "--service", "interrupted", ...SMALL_BATCHES];
    const child = await shipUntilRecorded(user, args);
    child.kill("SIGINT");
    const { exitCode, stderr } = await cliResult(child);
    expect(exitCode).toBe(130);
    expect(stderr).toEndWith("obs: interrupted; run the same command again to go on\n");
    const rest = await shippedLines(user, args);
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(MANY_LINES / 2);
    await expectStored(user, "interrupted", text);
  },
  TIMEOUT_MS,
);

test(
  "a server that is killed and comes back while a file is shipped neither loses nor doubles a line",
  async () => {
    using home = temporaryDirectory();
    const dataDirectory = join(home.path, "data");
    const first = await startServer({ dataDirectory });
    let current = first;
    try {
      const env = { OBS_URL: first.url, OBS_TOKEN: await makeToken(first.url) };
      const user = { directory: home.path, env };
      const file = join(home.path, "app.log");
      const text = linesFrom(0, MANY_LINES);
      writeFileSync(file, text);
      const child = await shipUntilRecorded(user, [
        ...["ship", file, "--service", "outage", "--json", ...SMALL_BATCHES],
      ]);
      for (let kill = 0; kill < 2; kill++) {
        const before = recordedOffset(user);
        current.kill("SIGKILL");
        await current.exited;
        current = await startServer({ dataDirectory, port: first.port });
        await eventually("more is acknowledged", () => recordedOffset(user) > before);
      }
      const { exitCode, stdout, stderr } = await cliResult(child);
      expect(exitCode).toBe(0);
      // A start that takes long is told of.
      expect(stderr).toMatch(/^(?:obs: .*; still trying\n)*$/);
      const summary: { lines: number; retries: number } = JSON.parse(stdout);
      expect(summary.lines).toBe(MANY_LINES);
      expect(summary.retries).toBeGreaterThan(0);
      await expectStored(user, "outage", text);
    } finally {
      await current.stop();
    }
  },
  TIMEOUT_MS,
);

test("an interrupt while the server is away ends the run at once, and a termination with 143", async () => {
  using home = temporaryDirectory();
  const statuses: number[] = [];
  using away = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      statuses.push(503);
      return Response.json(
        { error: "away", code: "UNAVAILABLE" },
        { status: 503, headers: { "retry-after": "60" } },
      );
    },
  });
  const user = { ...makeUser(home), env: { OBS_URL: away.url.origin, OBS_TOKEN: token } };
  writeFileSync(user.file, linesFrom(0, 10));
  for (const [signal, wanted] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    const before = statuses.length;
    const child = spawnCli(user, ["ship", user.file]);
    await eventually("an attempt", () => statuses.length > before);
    child.kill(signal);
    const { exitCode, stderr } = await cliResult(child);
    expect({ exitCode, stderr }).toEqual({
      exitCode: wanted,
      stderr: "obs: interrupted; run the same command again to go on\n",
    });
  }
});

test("a file that grew is continued where the last run ended", async () => {
  using home = temporaryDirectory();
  const user = makeUser(home);
  const args = ["ship", user.file, "--service", "grown"];
  writeFileSync(user.file, linesFrom(0, 700));
  expect(await shippedLines(user, args)).toBe(700);
  expect(await shippedLines(user, args)).toBe(0);
  appendFileSync(user.file, linesFrom(700, 300));
  expect(await shippedLines(user, args)).toBe(300);
  await expectStored(user, "grown", linesFrom(0, 1000));
});

test("a file that grew after its run was killed is continued without a repetition", async () => {
  using home = temporaryDirectory();
  const user = makeUser(home);
  const args = ["ship", user.file, "--service", "grown-after-kill", "--concurrency", "32", ...SMALL_BATCHES];
  writeFileSync(user.file, linesFrom(0, 4_020));
  const child = spawnCli(user, args);
  await eventually("the last batch is on its way", () => recordedOffset(user) > 0);
  child.kill("SIGKILL");
  await child.exited;
  appendFileSync(user.file, linesFrom(4_020, 340));
  await obs(user, args);
  await expectStored(user, "grown-after-kill", linesFrom(0, 4_360));
});

test("a replaced file and a truncated one are shipped from their start", async () => {
  using home = temporaryDirectory();
  const user = makeUser(home);
  const args = ["ship", user.file, "--service", "replaced"];
  const [first, second] = [linesFrom(0, 50), linesFrom(1000, 80)];
  writeFileSync(user.file, first);
  expect(await shippedLines(user, args)).toBe(50);

  renameSync(user.file, `${user.file}.1`);
  writeFileSync(user.file, second);
  expect(await shippedLines(user, args)).toBe(80);

  const kept = Buffer.from(second).subarray(0, 400).lastIndexOf(10) + 1;
  truncateSync(user.file, kept);
  const cut = second.slice(0, Buffer.from(second).subarray(0, kept).toString().length);
  expect(await shippedLines(user, args)).toBe(linesOfText(cut).length);
  await expectStored(user, "replaced", first + second + cut);
});

test("a file truncated and written anew under the same inode is shipped from its start", async () => {
  using home = temporaryDirectory();
  const user = makeUser(home);
  const args = ["ship", user.file, "--service", "rewritten"];
  writeFileSync(user.file, linesFrom(0, 40));
  await obs(user, args);
  writeFileSync(user.file, linesFrom(5000, 60));
  expect(await shippedLines(user, args)).toBe(60);
  await expectStored(user, "rewritten", linesFrom(0, 40) + linesFrom(5000, 60));
});

test("--restart ships the whole file once more", async () => {
  using home = temporaryDirectory();
  const user = makeUser(home);
  const args = ["ship", user.file, "--service", "restarted"];
  const text = linesFrom(0, 30);
  writeFileSync(user.file, text);
  expect(await shippedLines(user, args)).toBe(30);
  expect(await shippedLines(user, [...args, "--restart"])).toBe(30);
  expect(await shippedLines(user, args)).toBe(0);
  await expectStored(user, "restarted", text + text);
});

test("a damaged resume file ships the file from its start", async () => {
  using home = temporaryDirectory();
  const user = makeUser(home);
  const args = ["ship", user.file, "--service", "damaged"];
  const text = linesFrom(0, 20);
  writeFileSync(user.file, text);
  await obs(user, args);
  const states = join(home.path, "state", "obs", "ship");
  for (const name of readdirSync(states)) writeFileSync(join(states, name), '{"version":1,"run":');
  const { exitCode, stderr } = await runCli(user, args);
  expect({ exitCode, stderr: stderr.slice(0, 16) }).toEqual({ exitCode: 0, stderr: "shipped 20 lines" });
  await expectStored(user, "damaged", text + text);
});
