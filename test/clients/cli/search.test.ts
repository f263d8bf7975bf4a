import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliResult, type CliUser, obs, runCli, spawnOnTerminal } from "./cli-process.ts";
import { findLines } from "./found-lines.ts";

let directory: TemporaryDirectory;
let server: SharedServer;
let user: CliUser;

beforeAll(async () => {
  directory = temporaryDirectory();
  server = await sharedServer();
  const env = { OBS_URL: server.url, OBS_TOKEN: await makeToken(server.url) };
  user = { directory: directory.path, env };
  const entries = Array.from({ length: 12 }, (_, index) => ({
    message: `payment ${index} failed: card declined`,
    ts: new Date(Date.UTC(2026, 0, 2, 3, index)).toISOString(),
    service: "shop",
    attrs: { disk: "sda1", used: 0.98, user: { id: index } },
  }));
  await obs(user, ["ship", "-"], entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  await findLines(user, "shop", 12);
});

afterAll(() => directory[Symbol.dispose]());

/** What is said once a name is told of: a machine that is busy may take longer than a decoration of an answer may. */
const warned = (args: readonly string[]): Promise<CliResult> =>
  eventually("a name is told of", async () => {
    const result = await runCli(user, args);
    return result.stderr.includes("is no column") ? result : null;
  });

describe("a search", () => {
  test("shows attributes, and says how much there is more and of which time", async () => {
    const { stdout, stderr } = await runCli(user, ["search", "card", "--limit", "2"]);
    const [first] = stdout.split("\n");
    const attributes = 'disk=sda1 used=0.98 user={"id":11}';
    expect(first).toBe(`2026-01-02T03:11:00.000Z       shop payment 11 failed: card declined ${attributes}`);
    expect(stderr).toBe("2 of 12 entries (--limit N or --all shows more) of all times\n");
    const range = ["--from", "2026-01-02T03:00:00Z", "--to", "2026-01-02T03:04:00Z"];
    const ranged = await runCli(user, ["search", ...range]);
    expect(ranged.stderr).toBe("5 entries from 2026-01-02T03:00:00Z to 2026-01-02T03:04:00Z\n");
  });

  test("marks the words on a terminal, and nowhere else", async () => {
    const run = async (env: Record<string, string>): Promise<string> => {
      const terminal = spawnOnTerminal(
        { ...user, env: { ...user.env, ...env } },
        ["search", "CARD", '"failed: "', "--limit", "1", "--", "-nothing"],
        200,
      );
      expect(await terminal.exited).toBe(0);
      return terminal.screen();
    };
    expect(await run({})).toContain("payment 11 \u001b[7mfailed: \u001b[0m\u001b[7mcard\u001b[0m declined");
    expect(await run({ NO_COLOR: "1" })).toContain("payment 11 failed: card declined");
    expect(await obs(user, ["search", "card", "--limit", "1"])).not.toContain("\u001b");
  });

  test("that finds nothing says why that may be, on standard error, and ends with 0", async () => {
    const newest = "the newest entry of all is of 2026-01-02T03:11:00.000Z";
    const cases: readonly [readonly string[], string][] = [
      [
        ["crad"],
        `nothing found of all times\n${newest}; all words must occur in one message: check their spelling\n`,
      ],
      [
        ["--from", "2026-02-01"],
        `nothing found from 2026-02-01T00:00:00.000Z until now\n${newest}, before that\n`,
      ],
    ];
    for (const [args, stderr] of cases)
      expect(await runCli(user, ["search", ...args])).toEqual({ exitCode: 0, stdout: "", stderr });
    const told = `nothing found of all times\nobs: levle is no column, and an attribute of none of the newest entries. Did you mean level?\n${newest}\n`;
    expect(await warned(["search", "--query", 'levle == "error"'])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: told,
    });
    const env = { ...user.env, OBS_TOKEN: await makeToken(server.url) };
    const nobody = await runCli({ ...user, env }, ["search", "x"]);
    expect(nobody.stderr).toEndWith("there are no entries yet: obs ship FILE\n");
  });

  test("with --archive is told that every search reads the archive", async () => {
    const { exitCode, stderr } = await runCli(user, ["search", "--archive", "card"]);
    expect(exitCode).toBe(0);
    expect(stderr).toStartWith("obs: --archive changes nothing: every search reads the archive, too\n");
  });
});

describe("a query", () => {
  test("leaves columns that are empty out of a table on a terminal, and names them", async () => {
    const terminal = spawnOnTerminal(user, ["query", "logs | take 3", "--no-progress"], 200);
    expect(await terminal.exited).toBe(0);
    expect(terminal.screen()).toContain(
      "left out, for they are empty: level, source, host, event_id, traceId, spanId",
    );
    expect(terminal.screen()).not.toMatch(/ source +host /);
    const piped = await runCli(user, ["query", "logs | take 3"]);
    expect(piped.stdout).toMatch(/^ts .* source +host /);
  });

  test("in SQL is told that it is none, with what to write instead", async () => {
    const cases = {
      "select * from logs": "logs | take 100",
      "SELECT service, message FROM logs WHERE level = 'error' AND service <> 'x' LIMIT 5":
        "logs | where level == 'error' and service != 'x' | project service, message | take 5",
      "select count(*) from logs where message like '%disk%'": "logs | where message contains 'disk' | count",
      "select service, count(*) from logs group by service": "logs | summarize count() by service",
      "select something odd": 'logs | where level == "error" | take 10',
    };
    for (const [sql, kql] of Object.entries(cases)) {
      expect(await runCli(user, ["query", sql])).toEqual({
        exitCode: 1,
        stdout: "",
        stderr: `obs: this is KQL, not SQL; instead: ${kql}\n`,
      });
      expect((await runCli(user, ["query", kql])).exitCode).toBe(0);
    }
  });

  test("without rows names what is neither a column nor an attribute", async () => {
    const { stderr } = await warned([
      "query",
      "logs | extend twice = used * 2 | where usde > 1 and twice > 9",
    ]);
    expect(stderr).toContain(
      "usde is no column, and an attribute of none of the newest entries. Did you mean used?\n",
    );
    expect(stderr).not.toContain("twice is");
    const known = await runCli(user, ["query", 'logs | where user.id > 99 and message == "unheard == of"']);
    expect(known.stderr).not.toContain("is no column");
  });
});

test("hints name the command as it was run", async () => {
  const bunx = { directory: directory.path, env: { npm_lifecycle_event: "bunx" } };
  expect((await runCli(bunx, ["search"])).stderr).toStartWith('obs: no token: run "bunx obs login"');
  const script = { directory: directory.path, env: { npm_lifecycle_event: "obs" } };
  expect((await runCli(script, ["search"])).stderr).toStartWith('obs: no token: run "bun run obs login"');
});
