/** The recipes of docs/shippers.md, run as written but for the address and the token, with the senders' own programs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashToken, mintPersonalAccessToken } from "../../src/access/secret-token.ts";
import { eventually } from "../harness/eventually.ts";
import { serverPort } from "../harness/server-port.ts";
import { type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const ROOT = join(import.meta.dir, "../..");
const RECIPES = readFileSync(join(ROOT, "docs/shippers.md"), "utf8");
const DOCUMENTED_SYSLOG_PORT = "5514";

let stores: TestStores;
let directory: TemporaryDirectory;
let server: ServerProcess;
let token: string;
let syslogPort: number;

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  token = await insertToken(stores);
  syslogPort = await serverPort();
  server = await startServer({
    dataDirectory: directory.path,
    env: {
      DATABASE_URL: stores.postgresUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      SYSLOG_TCP_PORT: String(syslogPort),
      SYSLOG_TOKEN: token,
    },
  });
});
afterAll(async () => {
  await server.stop();
  await stores.close();
  directory[Symbol.dispose]();
});

/** A token that may write and read logs and make sources, of a member of an organisation of its own. */
async function insertToken({ postgres: sql }: TestStores): Promise<string> {
  const minted = mintPersonalAccessToken();
  await sql`
    WITH organization AS (
      INSERT INTO organizations (name, created_at) VALUES ('shippers', now()) RETURNING id
    ), person AS (
      INSERT INTO users (email, created_at) VALUES ('shippers@example.com', now()) RETURNING id
    ), member AS (
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      SELECT organization.id, person.id, 'member', now() FROM organization, person RETURNING organization_id, user_id
    )
    INSERT INTO personal_access_tokens (organization_id, user_id, token_hash, name, prefix, scopes, created_at)
    SELECT organization_id, user_id, ${hashToken(minted)}, 'shippers', ${minted.slice(0, 12)},
           ${["logs:write", "logs:read", "sources:write"]}, now()
    FROM member`;
  return minted;
}

/** A code block of the document by the word behind its language, with this server's address and token. */
function recipe(name: string): string {
  const block = new RegExp(`^\`\`\`\\w+ ${name}\\n([^]*?)^\`\`\``, "m").exec(RECIPES);
  if (block?.[1] === undefined) throw new Error(`docs/shippers.md has no recipe ${name}`);
  return block[1]
    .replaceAll("http://127.0.0.1:8080", server.url)
    .replaceAll("port: 8080", `port: ${server.port}`)
    .replaceAll(DOCUMENTED_SYSLOG_PORT, String(syslogPort))
    .replaceAll("obs_YOUR_TOKEN", token);
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { cwd: ROOT, stdout: "pipe", stderr: "pipe" });
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`ended with ${code}: ${output}${errors}`);
}

type Entry = Readonly<Record<string, unknown>>;

/** The entry with these words, once a search finds it. */
async function found(words: string): Promise<Entry> {
  return (await foundAll(words)).first;
}

async function foundAll(words: string): Promise<{ readonly entries: number; readonly first: Entry }> {
  const address = `${server.url}/api/v1/logs/search?q=${encodeURIComponent(words)}`;
  let entries: readonly Entry[] = [];
  await eventually(`an entry with ${words}`, async () => {
    const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
    const body: { entries: Entry[] } = JSON.parse(await response.text());
    entries = body.entries;
    return entries.length > 0;
  });
  return { entries: entries.length, first: entries[0] ?? {} };
}

test("curl", async () => {
  await run(["sh", "-euc", recipe("curl")]);
  expect(await found('"hello from curl"')).toMatchObject({ level: "info", service: "curl" });
  await found('"second line"');
  await found('"a compressed line"');
});

test("the OpenTelemetry SDK", async () => {
  await run([process.execPath, "-e", recipe("opentelemetry")]);
  expect(await found('"hello from opentelemetry"')).toMatchObject({
    level: "error",
    service: "checkout",
    host: "web-1",
    source: "orders",
    attrs: { orderId: 17 },
  });
});

test("winston", async () => {
  await run(["sh", "-euc", recipe("winston-source")]);
  await run([process.execPath, "-e", recipe("winston")]);
  expect(await found('"hello from winston"')).toMatchObject({
    level: "error",
    service: "checkout",
    attrs: { orderId: 17 },
  });
});

test("pino", async () => {
  await run([process.execPath, "-e", recipe("pino")]);
  expect(await found('"hello from pino"')).toMatchObject({ level: "error", service: "checkout" });
});

const rsyslog = Bun.which("rsyslogd", { PATH: `${process.env.PATH}:/usr/sbin` });
const canSendJson = [...new Bun.Glob("/usr/lib/*/rsyslog/omelasticsearch.so").scanSync("/")].length > 0;

describe.skipIf(rsyslog === null)("rsyslog (skipped where it is not installed)", () => {
  /** Runs rsyslog with a recipe until the entry of a message logged through it is found. */
  async function logThrough(name: string, message: string): Promise<Entry> {
    using work = temporaryDirectory();
    const socket = join(work.path, "log");
    const config = `
      global(workDirectory="${work.path}")
      module(load="imuxsock" SysSock.Use="off")
      input(type="imuxsock" Socket="${socket}" CreatePath="on")
      ${recipe(name)}`;
    writeFileSync(join(work.path, "rsyslog.conf"), config);
    const files = ["-f", join(work.path, "rsyslog.conf"), "-i", join(work.path, "pid")];
    const daemon = Bun.spawn([rsyslog ?? "", "-n", ...files], { stdout: "ignore", stderr: "ignore" });
    try {
      await eventually("rsyslog takes messages", () => existsSync(socket));
      await run(["logger", "-u", socket, "-t", "checkout", "-p", "user.err", message]);
      return await found(`"${message}"`);
    } finally {
      daemon.kill();
      await daemon.exited;
    }
  }

  test("syslog over TCP", async () =>
    expect(await logThrough("rsyslog-tcp", "hello from rsyslog")).toMatchObject({
      level: "error",
      service: "checkout",
    }));

  test.skipIf(!canSendJson)("JSON over HTTP", async () =>
    expect(await logThrough("rsyslog-json", "hello from rsyslog in JSON")).toMatchObject({
      level: "error",
      service: "checkout",
    }),
  );
});

test.skipIf(Bun.which("logger") === null)("logger (skipped where it is not installed)", async () => {
  await run(["sh", "-euc", recipe("logger")]);
  expect(await found('"hello from logger"')).toMatchObject({ level: "error", service: "checkout" });
});

const SYSTEMD = { PATH: "/usr/lib/systemd:/lib/systemd" };
const uploader = Bun.which("systemd-journal-upload", SYSTEMD);
const journalWriter = Bun.which("systemd-journal-remote", SYSTEMD);
const JOURNAL = `__REALTIME_TIMESTAMP=1790000000123456
__MONOTONIC_TIMESTAMP=1000
_BOOT_ID=0123456789abcdef0123456789abcdef
MESSAGE=hello from the journal
PRIORITY=3
SYSLOG_IDENTIFIER=checkout
_HOSTNAME=web-1

`;

test.skipIf(uploader === null || journalWriter === null)(
  "systemd-journal-upload, twice, and each entry is stored once (skipped where it is not installed)",
  async () => {
    using work = temporaryDirectory();
    const [text, journal] = [join(work.path, "export"), join(work.path, "one.journal")];
    writeFileSync(text, JOURNAL);
    await run([journalWriter ?? "", "-o", journal, text]);
    const [, url = ""] = /^URL=(.*)$/m.exec(recipe("journal-upload")) ?? [];
    for (let repetition = 0; repetition < 2; repetition++)
      await run([uploader ?? "", "--url", url, "--file", journal, "--follow=no"]);
    const { entries, first } = await foundAll('"hello from the journal"');
    expect(entries).toBe(1);
    expect(first).toMatchObject({
      ts: "2026-09-21T14:13:20.123456Z",
      level: "error",
      service: "checkout",
      host: "web-1",
    });
  },
);
