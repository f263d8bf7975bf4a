import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../harness/eventually.ts";
import { serverPort } from "../../harness/server-port.ts";
import { type ServerProcess, startServer } from "../../harness/server-process.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { freshEmail } from "../../identity/identity-server.ts";
import { openMailPeer } from "./mail-peer.ts";

const PASSWORD = "correct horse battery";
const NEW_PASSWORD = "another horse, another battery";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

function post(server: ServerProcess, path: string, body: unknown): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** The server as a program, over the suite's stores. */
function program(dataDirectory: string, env: Record<string, string>): Promise<ServerProcess> {
  const { postgresUrl, clickhouseUrl } = stores;
  return startServer({
    dataDirectory,
    env: { DATABASE_URL: postgresUrl, CLICKHOUSE_URL: clickhouseUrl, LOG_LEVEL: "info", ...env },
  });
}

test("a person registers, confirms, forgets the password and gets in again, all by mail", async () => {
  using directory = temporaryDirectory();
  const peer = await openMailPeer({ credentials: { user: "obs", password: "s3cret-of-smtp" } });
  const server = await program(directory.path, {
    SECRET_KEY: "11".repeat(32),
    SMTP_URL: peer.url,
    SMTP_FROM: "Acme Logs <logs@acme.example>",
    REQUIRE_EMAIL_VERIFICATION: "1",
    PUBLIC_URL: "https://logs.acme.example",
  });
  try {
    const email = freshEmail();
    const mailTo = (subject: string) =>
      eventually(`a mail "${subject}"`, () =>
        peer.received.find(({ recipients, mail }) => recipients.includes(email) && mail.subject === subject),
      );
    expect((await post(server, "/api/v1/auth/register", { email, password: PASSWORD })).status).toBe(201);
    expect((await post(server, "/api/v1/auth/login", { email, password: PASSWORD })).status).toBe(403);
    const verification = await mailTo("Confirm your email address");
    expect(verification.from).toBe("logs@acme.example");
    expect(verification.mail.from).toMatchObject({ name: "Acme Logs" });
    const [link = ""] = /https:\/\/logs\.acme\.example\/\S+/.exec(verification.mail.text ?? "") ?? [];
    const page = await fetch(link.replace("https://logs.acme.example", server.url), {
      headers: { accept: "text/html" },
    });
    expect(await page.text()).toContain("The email address is confirmed.");
    expect((await post(server, "/api/v1/auth/login", { email, password: PASSWORD })).status).toBe(200);

    expect((await post(server, "/api/v1/auth/forgot-password", { email })).status).toBe(202);
    const reset = await mailTo("Choose a new password");
    const [, token = ""] = /\/reset-password#token=(\S+)/.exec(reset.mail.text ?? "") ?? [];
    const form = await fetch(`${server.url}/reset-password`);
    expect(form.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(await form.text()).toContain('src="/reset-password/form.js"');
    expect((await fetch(`${server.url}/reset-password/form.js`)).status).toBe(200);
    const answer = await post(server, "/api/v1/auth/reset-password", { token, newPassword: NEW_PASSWORD });
    expect(answer.status).toBe(200);
    expect((await post(server, "/api/v1/auth/login", { email, password: NEW_PASSWORD })).status).toBe(200);
    await mailTo("Your password was changed");

    const ready: { dependencies: unknown[] } = JSON.parse(
      await (await fetch(`${server.url}/health/ready`)).text(),
    );
    expect(ready.dependencies).toContainEqual({ name: "mail", state: "up" });
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('obs_mails_total{outcome="sent"} 3');
    expect(metrics).toContain("obs_mails_waiting 0");
    const [, confirming = "none"] = /token=(\S+)/.exec(link) ?? [];
    for (const secret of [token, confirming, "s3cret-of-smtp", NEW_PASSWORD])
      expect(server.output()).not.toContain(secret);
  } finally {
    expect(await server.stop()).toBe(0);
    await peer.close();
  }
});

test("without a mail server the links are in the server's log and in files, and nobody is stuck", async () => {
  using directory = temporaryDirectory();
  const server = await program(directory.path, {
    SECRET_KEY: "11".repeat(32),
    REQUIRE_EMAIL_VERIFICATION: "1",
  });
  try {
    const email = freshEmail();
    expect((await post(server, "/api/v1/auth/register", { email, password: PASSWORD })).status).toBe(201);
    // There is no mail to confirm by, so that nothing is required.
    expect((await post(server, "/api/v1/auth/login", { email, password: PASSWORD })).status).toBe(200);
    await post(server, "/api/v1/auth/forgot-password", { email });
    const link = await eventually(
      "the link is logged",
      () => /"link":"(http:\/\/127\.0\.0\.1:\d+\/reset-password#token=[\w-]{43})"/.exec(server.output())?.[1],
    );
    const token = link.split("token=")[1] ?? "";
    const outbox = join(directory.path, "outbox");
    await eventually("the mail is a file", () =>
      readdirSync(outbox).some((name) => {
        const unfolded = readFileSync(join(outbox, name), "utf8")
          .replaceAll("=\n", "")
          .replaceAll("=3D", "=");
        return unfolded.includes(token);
      }),
    );
    const answer = await post(server, "/api/v1/auth/reset-password", { token, newPassword: NEW_PASSWORD });
    expect(answer.status).toBe(200);
  } finally {
    expect(await server.stop()).toBe(0);
  }
});

test("a mail that waits survives the loss of the server and is sent by the next one", async () => {
  using directory = temporaryDirectory();
  const env = { SECRET_KEY: "11".repeat(32) };
  const email = freshEmail();
  const port = await serverPort();
  const first = await program(directory.path, { ...env, SMTP_URL: `smtp://127.0.0.1:${port}` });
  expect((await post(first, "/api/v1/auth/register", { email, password: PASSWORD })).status).toBe(201);
  first.kill("SIGKILL");
  await first.exited;
  const peer = await openMailPeer();
  const second = await program(directory.path, { ...env, SMTP_URL: peer.url });
  try {
    await eventually("the mail of the first server arrives", () =>
      peer.received.some(({ recipients }) => recipients.includes(email)),
    );
  } finally {
    expect(await second.stop()).toBe(0);
    await peer.close();
  }
});
