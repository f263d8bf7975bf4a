import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";
import { obs, runCli } from "./cli-process.ts";

const MAIN = join(import.meta.dir, "../../cli/main.ts");
const PASSWORD = "correct horse battery";

let directory: TemporaryDirectory;
let server: ServerProcess;

beforeAll(async () => {
  directory = temporaryDirectory();
  server = await startServer({ dataDirectory: join(directory.path, "data") });
}, 60_000);

afterAll(async () => {
  await server.stop();
  directory[Symbol.dispose]();
});

/** A question that is waited for, and what is typed then. */
type Answer = readonly [question: string, keys: string];

/** Runs `obs login` for a person at a terminal. */
async function loginOnTerminal(
  home: string,
  args: readonly string[],
  answers: readonly Answer[],
): Promise<{ exitCode: number; screen: string }> {
  let screen = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn([process.execPath, MAIN, "login", "--url", server.url, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, TERM: "xterm" },
    terminal: {
      data: (_, bytes) => {
        screen += decoder.decode(bytes, { stream: true });
      },
    },
  });
  for (const [question, keys] of answers) {
    await eventually(question, () => screen.includes(question));
    child.terminal?.write(keys);
  }
  return { exitCode: await child.exited, screen };
}

function storedToken(home: string): string {
  const stored: { token: string } = JSON.parse(
    readFileSync(join(home, ".config/obs/credentials.json"), "utf8"),
  );
  return stored.token;
}

test("a person at a terminal makes an account, logs in again and never sees the password", async () => {
  using home = temporaryDirectory();
  const typed: readonly Answer[] = [
    ["Email: ", "anx\u007fa@example.com\r"],
    ["Password: ", `${PASSWORD}!\u007f\r`],
  ];
  const registered = await loginOnTerminal(home.path, ["--register"], typed);
  expect(registered).toMatchObject({ exitCode: 0 });
  expect(registered.screen).toContain("now try:");
  expect(registered.screen).not.toContain("correct");
  const first = storedToken(home.path);
  const again = await loginOnTerminal(home.path, [], typed);
  expect(again).toMatchObject({ exitCode: 0 });
  expect(storedToken(home.path)).not.toBe(first);
}, 60_000);

test("both answers may be pasted at once, and an interrupt ends with 130", async () => {
  using home = temporaryDirectory();
  const pasted = `paste@example.com\r${PASSWORD}\r`;
  const registered = await loginOnTerminal(home.path, ["--register"], [["Email: ", pasted]]);
  expect(registered).toMatchObject({ exitCode: 0 });
  expect(registered.screen).not.toContain("correct");
  const interrupted = await loginOnTerminal(home.path, [], [["Email: ", "\u0003"]]);
  expect(interrupted).toMatchObject({ exitCode: 130 });
}, 60_000);

test("a wrong password says so and names the way to a new account", async () => {
  using home = temporaryDirectory();
  const args = ["login", "--url", server.url, "--email", "nobody@example.com", "--password-stdin"];
  const { exitCode, stderr } = await runCli({ directory: home.path }, args, "not the password\n");
  expect(exitCode).toBe(1);
  expect(stderr).toEndWith('(INVALID_CREDENTIALS, 401); a new account: "obs login --register"\n');
}, 60_000);

test("a token that may only write logs can be kept", async () => {
  using home = temporaryDirectory();
  const minted = await fetch(`${server.url}/api/v1/me/tokens`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await makeToken(server.url)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ name: "writer", scopes: ["logs:write"] }),
  });
  const { token }: { token: string } = JSON.parse(await minted.text());
  const user = { directory: home.path };
  await obs(user, ["login", "--url", server.url, "--token", token]);
  expect(await runCli(user, ["ship", "-"], "a line\n")).toMatchObject({ exitCode: 0 });
}, 60_000);
