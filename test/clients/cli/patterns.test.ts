import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliUser, obs, runCli, spawnOnTerminal } from "./cli-process.ts";

const REPORT = {
  patterns: [
    {
      pattern: "request <*> took <*> ms \u001b[2J",
      count: 9000,
      share: 0.9,
      levels: [
        { value: "info", count: 10 },
        { value: "warn", count: 8000 },
        { value: null, count: 990 },
      ],
      services: [{ value: "web", count: 9000 }],
      trend: [0, 1, 4, 8],
      new: false,
    },
    {
      pattern: "磁盘 <*> 已满",
      count: 1000,
      share: 0.1,
      levels: [],
      services: [],
      trend: [8, 0, 0, 0],
      new: true,
    },
  ],
  vanished: [{ pattern: "started <*>", previousCount: 12 }],
  other: { patterns: 3, count: 0 },
  total: 10_000,
  sampled: false,
};

let directory: TemporaryDirectory;
let server: Bun.Server<undefined>;
let user: CliUser;
const asked: string[] = [];

beforeAll(() => {
  directory = temporaryDirectory();
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      const { pathname, search } = new URL(url);
      asked.push(`${pathname}${search}`);
      return Response.json(REPORT);
    },
  });
  const env = { OBS_URL: server.url.origin, OBS_TOKEN: `obs_${"a".repeat(43)}` };
  user = { directory: directory.path, env };
});

afterAll(async () => {
  await server.stop(true);
  directory[Symbol.dispose]();
});

test("patterns are a table with their trend, new ones marked and vanished ones listed", async () => {
  const { exitCode, stdout, stderr } = await runCli(user, ["patterns"]);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: "2 patterns of 10,000 entries of the last 24 hours, and 3 more\n",
  });
  expect(stdout.split("\n")).toEqual([
    "count  share  trend       levels     services  pattern",
    " 9000  90.0%   ▁▄█        warn info  web       request <*> took <*> ms \\x1b[2J",
    " 1000  10.0%  █      new                       磁盘 <*> 已满",
    "",
    "before  vanished pattern",
    "    12  started <*>",
    "",
  ]);
});

test("the table fits the terminal", async () => {
  const terminal = spawnOnTerminal({ ...user, env: { ...user.env, NO_COLOR: "1" } }, ["patterns"], 60);
  expect(await terminal.exited).toBe(0);
  expect(terminal.screen()).toContain("warn info  web       request <*> …\r\n");
});

test("--json gives the answer as it came", async () => {
  expect(JSON.parse(await obs(user, ["patterns", "--json"]))).toEqual(REPORT);
});

test("every filter reaches the server", async () => {
  asked.length = 0;
  const flags = [
    "--service",
    "web",
    "--level",
    "warn",
    "--query",
    "a == 1",
    "--limit",
    "5",
    "--to",
    "2026-01-02",
  ];
  await obs(user, ["patterns", "timed", "out", ...flags, "--from", "2026-01-01"]);
  const wanted = {
    q: "timed out",
    query: "a == 1",
    service: "web",
    level: "warn",
    from: "2026-01-01T00:00:00.000Z",
    to: "2026-01-02T00:00:00.000Z",
    limit: "5",
  };
  expect(asked).toEqual([`/api/v1/logs/patterns?${new URLSearchParams(wanted)}`]);
});
