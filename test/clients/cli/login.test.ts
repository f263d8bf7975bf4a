import { beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { RECIPES } from "../../../clients/cli/tokens/recipes.ts";
import { eventually } from "../../harness/eventually.ts";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { obs, runCli } from "./cli-process.ts";

const MAIN = join(import.meta.dir, "../../../clients/cli/main.ts");
const SHIPPERS = readFileSync(join(import.meta.dir, "../../../docs/shippers.md"), "utf8");
const PASSWORD = "correct horse battery";

let server: SharedServer;

beforeAll(async () => {
  server = await sharedServer();
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
  const registered = await loginOnTerminal(
    home.path,
    ["--register"],
    [
      ["Email: ", "anx\u007fa@example.com\r"],
      ["A password has 12 characters or more", "too short\r"],
      ["That has 9; a password has 12 or more.", `${PASSWORD}!\u007f\r`],
      ["The same again: ", "another password\r"],
      ["That was another one.", `${PASSWORD}\r${PASSWORD}\r`],
    ],
  );
  expect(registered).toMatchObject({ exitCode: 0 });
  expect(registered.screen).toContain("now try:");
  expect(registered.screen).not.toContain("correct");
  const first = storedToken(home.path);
  const again = await loginOnTerminal(home.path, [], typed);
  expect(again).toMatchObject({ exitCode: 0 });
  expect(storedToken(home.path)).not.toBe(first);
  // The token that was replaced is good for nothing.
  expect((await fetch(`${server.url}/api/v1/me`, bearer(first))).status).toBe(401);
});

test("whoever logs in is told before what the token may do, and may ask for one that changes nothing", async () => {
  using home = temporaryDirectory();
  const pasted = `reader@example.com\r${PASSWORD}\r${PASSWORD}\r`;
  const all = await loginOnTerminal(home.path, ["--register"], [["Email: ", pasted]]);
  const [told = ""] = all.screen.split("Email: ");
  expect(told).toContain("read and change logs,");
  expect(told).toContain("incidents");
  const reader = `reader@example.com\r${PASSWORD}\r`;
  const { screen } = await loginOnTerminal(home.path, ["--read-only"], [["Email: ", reader]]);
  expect(screen).toMatch(/^The token may read [a-z, -]+\.\s+Email: /);
  expect(screen).not.toContain("obs ship");
  const token = storedToken(home.path);
  const call = async (path: string, init: RequestInit = {}) =>
    (await fetch(`${server.url}/api/v1/${path}`, { ...init, ...bearer(token) })).status;
  expect(await call("logs/search")).toBe(200);
  expect(await call("logs/ingest", { method: "POST", body: '[{"message":"m","service":"s"}]' })).toBe(403);
  expect(await call("me/tokens", { method: "POST", body: "{}" })).toBe(403);
  const both = await runCli({ directory: home.path }, ["login", "--read-only", "--token", token]);
  expect(both.exitCode).toBe(2);
});

test("all answers may be pasted at once, and an interrupt ends with 130", async () => {
  using home = temporaryDirectory();
  const pasted = `paste@example.com\r${PASSWORD}\r${PASSWORD}\r`;
  const registered = await loginOnTerminal(home.path, ["--register"], [["Email: ", pasted]]);
  expect(registered).toMatchObject({ exitCode: 0 });
  expect(registered.screen).not.toContain("correct");
  const interrupted = await loginOnTerminal(home.path, [], [["Email: ", "\u0003"]]);
  expect(interrupted).toMatchObject({ exitCode: 130 });
});

function bearer(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}

test("what is no address, or too short for a password, is refused before anything is asked or sent", async () => {
  using home = temporaryDirectory();
  const nowhere = await loginOnTerminal(home.path, ["--register"], [["Email: ", "somebody\r"]]);
  expect(nowhere.exitCode).toBe(2);
  expect(nowhere.screen).toContain("obs: somebody is no email address");
  expect(nowhere.screen).not.toContain("Password");
  const args = ["login", "--register", "--email", "a@example.com", "--password-stdin", "--url", server.url];
  const short = await runCli({ directory: home.path }, args, "short\n");
  expect(short).toMatchObject({ exitCode: 2, stderr: "obs: That has 5; a password has 12 or more.\n" });
});

test("the token that is kept may do what the commands need, ends, and says when it has ended", async () => {
  using home = temporaryDirectory();
  const user = { directory: home.path };
  const args = [
    "login",
    "--register",
    "--email",
    "scoped@example.com",
    "--password-stdin",
    "--url",
    server.url,
  ];
  await obs(user, args, `${PASSWORD}\n`);
  const path = join(home.path, "config/obs/credentials.json");
  const stored: { token: string; expiresAt: string } = JSON.parse(readFileSync(path, "utf8"));
  const days = (Date.parse(stored.expiresAt) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(90);
  const [listed] = (await obs(user, ["token", "list", "--json"])).trimEnd().split("\n");
  const { scopes }: { scopes: string[] } = JSON.parse(listed ?? "");
  expect(scopes.toSorted()).toEqual([
    "account:read",
    "alerts:read",
    "alerts:write",
    "incidents:read",
    "incidents:write",
    "logs:read",
    "logs:write",
    "maintenance:read",
    "metrics:read",
    "monitors:read",
    "monitors:write",
    "on-call:read",
    "security:read",
    "security:write",
    "sources:read",
    "sources:write",
    "status-pages:read",
    "tokens:write",
  ]);
  writeFileSync(path, JSON.stringify({ ...stored, expiresAt: "2026-01-02T03:04:05.000Z" }));
  expect(await runCli(user, ["search"])).toMatchObject({
    exitCode: 1,
    stderr: 'obs: the token of "obs login" ended on 2026-01-02: run it again\n',
  });
});

test("a token is made for a sender, shown in its recipe, listed, and revoked", async () => {
  using home = temporaryDirectory();
  const user = { directory: home.path, env: { OBS_URL: server.url, OBS_TOKEN: await makeToken(server.url) } };
  const made = await runCli(user, ["token", "create", "--for", "curl"]);
  expect(made).toMatchObject({ exitCode: 0 });
  expect(made.stderr).toMatch(
    /^token \d+ may logs:write and has no end; it is shown this once\nfor curl:\n$/,
  );
  const token = /obs_[\w-]{43}/.exec(made.stdout)?.[0] ?? "";
  const shell = Bun.spawn(["sh", "-c", `${made.stdout.trim()} --fail --silent`], { stdout: "pipe" });
  expect(JSON.parse(await new Response(shell.stdout).text())).toMatchObject({ accepted: 1 });
  const search = await fetch(`${server.url}/api/v1/logs/search`, bearer(token));
  expect(search.status).toBe(403);
  const id = /^token (\d+)/.exec(made.stderr)?.[1] ?? "";
  expect(await obs(user, ["token", "list"])).toMatch(new RegExp(`^ *${id}  obs_`, "m"));
  await obs(user, ["token", "revoke", id]);
  expect(await obs(user, ["token", "list"])).not.toMatch(new RegExp(`^ *${id}  obs_`, "m"));
  expect((await fetch(`${server.url}/api/v1/logs/search`, bearer(token))).status).toBe(401);
  const ending: { expiresAt: string } = JSON.parse(
    await obs(user, ["token", "create", "--json", "--expires", "30d"]),
  );
  expect(Math.round((Date.parse(ending.expiresAt) - Date.now()) / 86_400_000)).toBe(30);
});

test("every recipe names the server, also behind a prefix, and the token", () => {
  const token = `obs_${"a".repeat(43)}`;
  for (const [name, { text }] of Object.entries(RECIPES))
    for (const address of ["https://logs.example.com/obs", "http://127.0.0.1:8080"]) {
      const recipe = text(new URL(address), token);
      expect([name, recipe.includes(token)]).toEqual([name, true]);
      expect([name, recipe.includes(new URL(address).hostname)]).toEqual([name, true]);
      expect([name, recipe.includes("undefined")]).toEqual([name, false]);
    }
});

test.each([
  ["otlp", "otel-environment"],
  ["collector", "collector"],
  ["fluent-bit", "fluent-bit"],
  ["vector", "vector"],
  ["filebeat", "filebeat"],
  ["rsyslog", "rsyslog-json"],
  ["syslog-ng", "syslog-ng-http"],
  ["loki", "loki"],
])("the recipe for %s is that of the document", (sender, block) => {
  const [, documented] = new RegExp(`^\`\`\`\\w+ ${block}\\n([^]*?)\\n\`\`\``, "m").exec(SHIPPERS) ?? [];
  expect(RECIPES[sender]?.text(new URL("http://127.0.0.1:8080"), "obs_YOUR_TOKEN")).toBe(documented ?? "");
});

test("sources are made with a preset and listed", async () => {
  using home = temporaryDirectory();
  const user = { directory: home.path, env: { OBS_URL: server.url, OBS_TOKEN: await makeToken(server.url) } };
  expect(await obs(user, ["sources", "presets"])).toMatch(/^journald +ndjson +systemd journal$/m);
  const made = await runCli(user, ["sources", "create", "shop", "--preset", "winston"]);
  expect(made.stderr).toBe(`made the source shop: ${server.url}/api/v1/ingest/shop\n`);
  expect(await obs(user, ["sources", "list"])).toMatch(/^shop +shop +winston +active +0 +0$/m);
  const wrong = await runCli(user, ["sources", "create", "shop2", "--preset", "nothing"]);
  expect(wrong.stderr).toStartWith("obs: --preset is no preset; ");
  expect(await runCli(user, ["sources", "create", "NO"])).toMatchObject({ exitCode: 2 });
});

test("a wrong password says so and names the way to a new account", async () => {
  using home = temporaryDirectory();
  const args = ["login", "--url", server.url, "--email", "nobody@example.com", "--password-stdin"];
  const { exitCode, stderr } = await runCli({ directory: home.path }, args, "not the password\n");
  expect(exitCode).toBe(1);
  expect(stderr).toEndWith('(INVALID_CREDENTIALS, 401); a new account: "obs login --register"\n');
});

test("without a terminal a token is made with a password, too, and what goes with that alone is said", async () => {
  using home = temporaryDirectory();
  const user = { directory: home.path };
  const person = ["--email", "unattended@example.com", "--password-stdin"];
  await obs(user, ["login", "--register", "--url", server.url, ...person], `${PASSWORD}\n`);
  const create = ["token", "create", "--url", server.url, "--scope", "alerts:read"];
  const made = await obs(user, [...create, "--sign-in", ...person], `${PASSWORD}\n`);
  expect(made.trim()).toMatch(/^obs_[\w-]{43}$/);
  const without = await runCli(user, [...create, ...person], `${PASSWORD}\n`);
  expect(without).toMatchObject({
    exitCode: 2,
    stderr: "obs: --email and --password-stdin go with --sign-in\n",
  });
});

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
});

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
});

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
});
