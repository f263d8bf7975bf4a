import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { eventually } from "../../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../../harness/server-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { obs, runCli } from "./cli-process.ts";

const MAIN = join(import.meta.dir, "../../../clients/cli/main.ts");
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

const EnrolledFactor = Type.Object({ secret: Type.String(), recoveryCodes: Type.Array(Type.String()) });
const Stored = Type.Object({ credentials: Type.String() });
const Shown = Type.Object({ token: Type.String() });

/** A session of a new account, as a browser would send it. */
async function registerInBrowser(email: string): Promise<Record<string, string>> {
  const registered = await fetch(`${server.url}/api/v1/auth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const cookie = registered.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { cookie, origin: server.url, "content-type": "application/json" };
}

async function post(headers: Record<string, string>, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

test("an account with a second factor is asked for its code, and a recovery code will do", async () => {
  using home = temporaryDirectory();
  const email = "factor@example.com";
  const session = await registerInBrowser(email);
  const enrolled = Value.Parse(EnrolledFactor, await post(session, "/api/v1/auth/mfa/enroll", {}));
  const code = new TOTP({ secret: Secret.fromBase32(enrolled.secret) }).generate();
  await post(session, "/api/v1/auth/mfa/verify", { code });
  const [first = "", second = ""] = enrolled.recoveryCodes;
  const typed: readonly Answer[] = [
    ["Email: ", `${email}\r`],
    ["Password: ", `${PASSWORD}\r`],
    ["One-time code: ", `${first}\r`],
  ];
  expect(await loginOnTerminal(home.path, [], typed)).toMatchObject({ exitCode: 0 });
  const args = ["login", "--url", server.url, "--email", email, "--password-stdin"];
  const piped = await runCli({ directory: home.path }, args, `${PASSWORD}\n`);
  expect(piped).toMatchObject({ exitCode: 2 });
  expect(piped.stderr).toContain("--totp");
  const given = await runCli({ directory: home.path }, [...args, "--totp", second], `${PASSWORD}\n`);
  expect(given).toMatchObject({ exitCode: 0 });
}, 60_000);

test("an invite makes a new person a member of the organisation that sent it", async () => {
  using home = temporaryDirectory();
  const session = await registerInBrowser("inviting@example.com");
  const email = "invited@example.com";
  const { token } = Value.Parse(Shown, await post(session, "/api/v1/me/invites", { email, role: "member" }));
  const args = ["login", "--register", "--url", server.url, "--email", email, "--password-stdin"];
  const joined = await runCli(
    { directory: home.path },
    [...args, "--invite", token, "--json"],
    `${PASSWORD}\n`,
  );
  expect(joined).toMatchObject({ exitCode: 0 });
  const { credentials } = Value.Parse(Stored, JSON.parse(joined.stdout));
  const own = Value.Parse(Shown, JSON.parse(readFileSync(credentials, "utf8")));
  const me = await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${own.token}` } });
  expect(await me.json()).toMatchObject({ role: "member", user: { email } });
}, 60_000);
