import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../harness/eventually.ts";
import { serverPort } from "../../harness/server-port.ts";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliResult, type CliUser, obs, runCli } from "./cli-process.ts";
import { findLines } from "./found-lines.ts";

const MAIN = join(import.meta.dir, "../../../clients/cli/main.ts");
const WRONG_TOKEN = `obs_${"A".repeat(43)}`;

let directory: TemporaryDirectory;
let server: SharedServer;
let token: string;
let file: string;

beforeAll(async () => {
  directory = temporaryDirectory();
  server = await sharedServer();
  token = await makeToken(server.url);
  file = join(directory.path, "app.log");
  writeFileSync(file, "one\n\u001b[31mtwo\u001b[0m\u009b1m\n");
});

afterAll(() => directory[Symbol.dispose]());

/** A user whose settings are in a folder of the suite, named so that tests do not meet. */
function userNamed(name: string, env: Record<string, string> = {}): CliUser {
  const home = join(directory.path, name);
  mkdirSync(home);
  return { directory: home, env };
}

function knownUser(name: string): CliUser {
  return userNamed(name, { OBS_URL: server.url, OBS_TOKEN: token });
}

/** The failure is told in one line, without a stack or a colour, and nothing went to standard output. */
function expectOneLine({ exitCode, stdout, stderr }: CliResult, code: number, text: string | RegExp): void {
  expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: "" });
  expect(stderr).toMatch(text);
  expect(stderr).toMatch(/^obs: [^\n]+\n$/);
  expect(stderr).not.toContain("\u001b");
}

describe("a failure is told in one line and ends with 1", () => {
  test("when there is no token", async () => {
    const user = userNamed("no-token");
    for (const command of ["search", "tail", "query", "patterns"])
      expectOneLine(await runCli(user, [command, "x"]), 1, 'no token: run "obs login"');
    expectOneLine(await runCli(user, ["ship", file, "--url", server.url]), 1, 'no token: run "obs login"');
  });

  test("when the token is wrong", async () => {
    const user = userNamed("wrong-token", { OBS_URL: server.url, OBS_TOKEN: WRONG_TOKEN });
    const text = /\(UNAUTHENTICATED, 401\): run "obs login", or check OBS_TOKEN/;
    for (const command of ["search", "tail", "query", "patterns"])
      expectOneLine(await runCli(user, [command, "x"]), 1, text);
    expectOneLine(await runCli(user, ["ship", file]), 1, text);
    expectOneLine(await runCli(user, ["login", "--token", WRONG_TOKEN]), 1, text);
  });

  test("when the server cannot be reached, after the time it was given", async () => {
    const url = `http://127.0.0.1:${await serverPort()}`;
    const user = userNamed("unreachable", { OBS_URL: url, OBS_TOKEN: token });
    expectOneLine(await runCli(user, ["search", "x"]), 1, `cannot reach ${url}: connection refused`);
    expectOneLine(
      await runCli(user, ["ship", file, "--give-up", "1"]),
      1,
      /connection refused \(gave up after [01] s; run the same command again to go on\)/,
    );
  });

  test("when the server refuses the request, with what is wrong with it", async () => {
    const user = knownUser("refused");
    const long = await runCli(user, ["ship", file, "--service", "s".repeat(300)]);
    expectOneLine(long, 1, /^obs: --service: at most 255 characters \(VALIDATION_FAILED, 400\)/);
    expectOneLine(await runCli(user, ["search", "--service", "s".repeat(300)]), 1, /^obs: --service .*400\)/);
  });

  test("when the address is another program's", async () => {
    using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("\u001b[2Jhello") });
    const user = userNamed("other-program", { OBS_URL: other.url.origin, OBS_TOKEN: token });
    expectOneLine(await runCli(user, ["search", "x"]), 1, "is it an obs server?");
    expectOneLine(await runCli(user, ["ship", file]), 1, "is this the address of an obs server?");
  });

  test("when there is no such file, or it is none", async () => {
    const user = knownUser("no-file");
    expectOneLine(await runCli(user, ["ship", "missing.log"]), 1, /no such file: .*missing\.log/);
    expectOneLine(await runCli(user, ["ship", "."]), 1, "is not a regular file");
    if (Bun.which("mkfifo") === null) return;
    Bun.spawnSync(["mkfifo", "pipe"], { cwd: user.directory });
    expectOneLine(await runCli(user, ["ship", "pipe"]), 1, "is not a regular file");
  });

  test.skipIf(!existsSync("/dev/full"))("when the output has no room", async () => {
    const { directory, env = {} } = knownUser("no-room");
    for (const command of ["completion bash", "token list", "query 'logs | count'"]) {
      const child = Bun.spawn(["sh", "-c", `exec "$0" "$1" ${command} >/dev/full`, process.execPath, MAIN], {
        env: { ...process.env, HOME: directory, ...env },
        stderr: "pipe",
      });
      const stderr = await new Response(child.stderr).text();
      const lines = stderr.split("\n").filter((line) => line.includes("cannot be written"));
      expect([command, await child.exited, lines]).toEqual([
        command,
        1,
        ["obs: the output cannot be written: ENOSPC"],
      ]);
      expect(stderr).not.toContain("    at ");
    }
  });

  test("when the stored token was made for another server, which does not get it", async () => {
    let requests = 0;
    using other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => {
        requests++;
        return new Response(null, { status: 500 });
      },
    });
    const user = userNamed("other-server");
    await obs(user, ["login", "--url", server.url, "--token", token]);
    const answer = await runCli(user, ["search", "x", "--url", other.url.origin]);
    expectOneLine(answer, 1, `the stored token is for ${server.url}, not for ${other.url.origin}`);
    expect(requests).toBe(0);
  });

  test("when the stored credentials are damaged", async () => {
    const user = userNamed("damaged-credentials");
    await obs(user, ["login", "--url", server.url, "--token", token]);
    writeFileSync(join(user.directory, "config/obs/credentials.json"), '{"url":');
    expectOneLine(await runCli(user, ["search", "x"]), 1, "is damaged");
  });
});

describe("a command that means nothing ends with 2", () => {
  const commands = [
    ["ship", "--unknown-option", "x"],
    ["ship"],
    ["ship", "x", "--batch", "0"],
    ["ship", "x", "--batch", "501"],
    ["ship", "x", "--give-up", "541"],
    ["ship", "x", "--level", "loud"],
    ["ship", "x", "--format", "xml"],
    ["ship", "-", "x"],
    ["ship", "x", "--since", "soon"],
    ["ship", "x", "--preset", "journald", "--service", "s"],
    ["ship", "x", "--preset", "journald", "--dry-run"],
    ["ship", "x", "--source-key", "NO"],
    ["token", "create", "--for", "nothing"],
    ["token", "create", "--expires", "soon"],
    ["token", "revoke", "x"],
    ["sources", "create", "NO"],
    ["completion", "tcsh"],
    ["search", "--limit", "0"],
    ["search", "--from", "yesterday"],
    ["search", "--url", "ftp://127.0.0.1"],
    ["search", "--url", "http://user:secret@127.0.0.1"],
    ["search", "--since", "1h", "--from", "2h"],
    ["search", "--color", "sometimes"],
    ["tail", "--level", "loud"],
    ["query", "logs", "--since", "soon"],
    ["query", "logs", "too", "many"],
    ["patterns", "--limit", "0"],
    ["login", "--token", "short"],
    ["login", "--email", "a@example.com"],
    ["nonsense"],
  ];
  for (const [index, command] of commands.entries())
    test(`obs ${command.join(" ")}`, async () => {
      const { exitCode, stdout, stderr } = await runCli(knownUser(`usage-${index}`), command);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toMatch(/^(obs|error): /);
      expect(stderr).not.toMatch(/\n\s+at /);
    });

  test("but help and version are answers", async () => {
    const user = userNamed("help");
    const help = await obs(user, ["help"]);
    for (const command of [
      "login",
      "ship",
      "search",
      "tail",
      "query",
      "patterns",
      "token",
      "sources",
      "completion",
    ]) {
      expect(help).toContain(`\n  ${command} `);
      expect(await obs(user, ["help", command])).toStartWith(`Usage: obs ${command} [options]`);
    }
    expect(await obs(user, ["--help"])).toBe(help);
    expect(await obs(user, ["--version"])).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

test("--json prints what parses, for every command", async () => {
  const user = userNamed("json");
  const login = await obs(user, ["login", "--json", "--url", server.url, "--token", token]);
  const credentials = join(user.directory, "config/obs/credentials.json");
  expect(JSON.parse(login)).toEqual({ url: server.url, credentials });
  expect(statSync(credentials).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(credentials, "utf8"))).toEqual({ url: server.url, token });
  const shipped: unknown = JSON.parse(await obs(user, ["ship", file, "--json", "--service", "json"]));
  expect(shipped).toMatchObject({ lines: 2, entries: 2, retries: 0 });
  const entries = (await findLines(user, "json", 2)).map((line): unknown => JSON.parse(line));
  expect(entries).toMatchObject([{ service: "json" }, { service: "json" }]);
  expect(await obs(user, ["search", "--json", "--service", "nobody"])).toBe("");
});

test("what is not a terminal gets no colour and nothing that commands one", async () => {
  const user = {
    ...knownUser("plain"),
    env: { OBS_URL: server.url, OBS_TOKEN: token, TERM: "xterm-256color" },
  };
  const shipped = await runCli(user, ["ship", file, "--service", "plain", "--level", "error"]);
  expect(shipped.stderr).toMatch(/^shipped 2 lines, \d+ bytes in [\d.]+ s \(\d+ lines\/s\)\n/);
  const output = await eventually("two entries", async () => {
    const text = await obs(user, ["search", "--service", "plain"]);
    return text.split("\n").length === 3 && text;
  });
  expect(output).toContain(" error plain \\x1b[31mtwo\\x1b[0m\\x9b1m\n");
  expect(output).not.toContain("\u001b");
  expect(output).not.toContain("\u009b");
});

test("--limit bounds what is found, newest first", async () => {
  const user = knownUser("limit");
  const input = Array.from(
    { length: 30 },
    (_, index) => `{"message":"n${index}","ts":${1_750_000_000 + index}}\n`,
  );
  await obs(user, ["ship", "-", "--service", "limit"], input.join(""));
  await findLines(user, "limit", 30);
  const output = await obs(user, ["search", "--json", "--service", "limit", "--limit", "3"]);
  const messages = output
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line).message);
  expect(messages).toEqual(["n29", "n28", "n27"]);
});
