import { beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { eventually } from "../../harness/eventually.ts";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliUser, obs, runCli, spawnCli } from "./cli-process.ts";
import { countsOf, differences, findEntries, findLines } from "./found-lines.ts";

const TIMEOUT_MS = 120_000;

let server: SharedServer;
let token: string;

beforeAll(async () => {
  server = await sharedServer();
  token = await makeToken(server.url);
});

function userOf(home: TemporaryDirectory): CliUser {
  return { directory: home.path, env: { OBS_URL: server.url, OBS_TOKEN: token } };
}

function linesOf(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name} line ${index} of ${count}`);
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

async function expectMessages(user: CliUser, service: string, lines: readonly string[]): Promise<void> {
  const found = await findEntries(user, service, lines.length);
  expect(differences(countsOf(lines), countsOf(found.map(({ message }) => message)))).toEqual([]);
}

interface Summary {
  readonly files: number;
  readonly lines: number;
}

async function ship(user: CliUser, ...args: string[]): Promise<Summary> {
  return JSON.parse(await obs(user, ["ship", "--json", ...args]));
}

/** How many files have been begun, as the state of the user says. */
function filesBegun(user: CliUser): number {
  try {
    return readdirSync(join(user.directory, "state/obs/ship")).filter((name) => name.endsWith(".json"))
      .length;
  } catch {
    return 0;
  }
}

describe("many files", () => {
  test("are shipped by name and by pattern, each once, with their path as the source", async () => {
    using home = temporaryDirectory();
    const user = userOf(home);
    const names = ["a.log", "b.log", "c.log"];
    for (const name of names) writeFileSync(join(home.path, name), textOf(linesOf(name, 40)));
    writeFileSync(join(home.path, "other.txt"), "another one\n");
    expect(await ship(user, "*.log", "a.log", "--service", "many")).toMatchObject({ files: 3, lines: 120 });
    await expectMessages(
      user,
      "many",
      names.flatMap((name) => linesOf(name, 40)),
    );
    const sources = (await findLines(user, "many", 120)).map((line): string => JSON.parse(line).source);
    expect([...new Set(sources)].toSorted()).toEqual(names.map((name) => join(home.path, name)));
    expect(await ship(user, ...names, "--service", "many")).toMatchObject({ lines: 0 });
    const none = await runCli(user, ["ship", "*.nothing"]);
    expect(none).toMatchObject({ exitCode: 1, stderr: "obs: no file matches *.nothing\n" });
  });

  test(
    "of which a run was killed again and again are continued, and every line is stored exactly once",
    async () => {
      using home = temporaryDirectory();
      const user = userOf(home);
      const files = Array.from({ length: 6 }, (_, index) => `app-${index}.log`);
      for (const name of files) writeFileSync(join(home.path, name), textOf(linesOf(name, 3000)));
      const args = ["ship", "app-*.log", "--service", "killed-many", "--batch", "30"];
      for (let kill = 0; kill < 4; kill++) {
        const before = filesBegun(user);
        const child = spawnCli(user, args);
        await eventually("another file is begun", () => filesBegun(user) > before);
        child.kill("SIGKILL");
        await child.exited;
      }
      await obs(user, args);
      await expectMessages(
        user,
        "killed-many",
        files.flatMap((name) => linesOf(name, 3000)),
      );
    },
    TIMEOUT_MS,
  );

  test("that are renamed are known under their new names", async () => {
    using home = temporaryDirectory();
    const user = userOf(home);
    const path = join(home.path, "app.log");
    writeFileSync(path, textOf(linesOf("old", 30)));
    await ship(user, path, "--service", "renamed");
    renameSync(path, `${path}.1`);
    writeFileSync(path, textOf(linesOf("new", 20)));
    expect(await ship(user, "app.log*", "--service", "renamed")).toMatchObject({ files: 2, lines: 20 });
    await expectMessages(user, "renamed", [...linesOf("old", 30), ...linesOf("new", 20)]);
  });

  test("that cannot be shipped are named, and hold up no other", async () => {
    using home = temporaryDirectory();
    const user = userOf(home);
    writeFileSync(join(home.path, "good.log"), "a good line\n");
    writeFileSync(join(home.path, "program.log"), readFileSync(process.execPath).subarray(0, 100_000));
    writeFileSync(join(home.path, "wide.log"), Buffer.from("\ufeffwide characters\n".repeat(9), "utf16le"));
    const found = await runCli(user, ["ship", "*.log", "missing.log", "--service", "mixed"]);
    expect(found.exitCode).toBe(1);
    expect(found.stderr).toContain("program.log is binary, not text: nothing of it was sent\n");
    expect(found.stderr).toContain("wide.log is UTF-16 text: nothing of it was sent; instead: iconv ");
    expect(found.stderr).toMatch(/no such file: .*missing\.log\n/);
    expect(found.stderr).toContain("shipped 1 lines");
    expect(found.stderr).toEndWith("obs: 3 of 4 files not shipped whole\n");
    await expectMessages(user, "mixed", ["a good line"]);
    const alone = await runCli(user, ["ship", "program.log"]);
    expect(alone).toMatchObject({ exitCode: 1, stdout: "" });
    expect(alone.stderr).toMatch(/^obs: .*program\.log is binary, not text: nothing of it was sent\n$/);
  });
});

describe("a compressed file", () => {
  const lines = linesOf("packed", 10_000);
  const packers: Readonly<Record<string, (text: Buffer) => Uint8Array | Promise<Uint8Array>>> = {
    gz: (text) => gzipSync(text),
    zst: (text) => zstdCompressSync(text),
    bz2: async (text) => {
      const child = Bun.spawn(["bzip2", "-c"], { stdin: text, stdout: "pipe" });
      return new Uint8Array(await new Response(child.stdout).arrayBuffer());
    },
  };

  for (const [ending, pack] of Object.entries(packers))
    test.skipIf(ending === "bz2" && Bun.which("bzip2") === null)(
      `of 10 000 lines (${ending}) is unpacked, and continued where a killed run ended`,
      async () => {
        using home = temporaryDirectory();
        const user = userOf(home);
        const path = join(home.path, `app.log.${ending}`);
        writeFileSync(path, await pack(Buffer.from(textOf(lines))));
        const args = ["ship", path, "--service", ending, "--batch", "100"];
        const child = spawnCli(user, args);
        await eventually("it is begun", () => filesBegun(user) > 0);
        child.kill("SIGKILL");
        await child.exited;
        await obs(user, args);
        await expectMessages(user, ending, lines);
        expect(await ship(user, path, "--service", ending)).toMatchObject({ lines: 0 });
      },
      TIMEOUT_MS,
    );

  test("is unpacked by what it holds, whatever its name; one that is cut off is said to be", async () => {
    using home = temporaryDirectory();
    const user = userOf(home);
    writeFileSync(join(home.path, "named.log"), gzipSync("one\ntwo\n"));
    writeFileSync(join(home.path, "text.gz"), "three\n");
    expect(await ship(user, "named.log", "text.gz", "--service", "names")).toMatchObject({ lines: 3 });
    await expectMessages(user, "names", ["one", "two", "three"]);
    const packed = gzipSync(Buffer.from(textOf(lines)));
    writeFileSync(join(home.path, "cut.gz"), packed.subarray(0, packed.length - 5000));
    const cut = await runCli(user, ["ship", "cut.gz", "--service", "cut"]);
    expect(cut.exitCode).toBe(1);
    expect(cut.stderr).toEndWith("cut.gz is damaged or cut off: it does not unpack as gzip\n");
    const frames = zstdCompressSync(Buffer.from(textOf(lines)));
    for (const bytes of [frames.length - 1, 40]) {
      writeFileSync(join(home.path, "cut.zst"), frames.subarray(0, bytes));
      const cutZst = await runCli(user, ["ship", "cut.zst", "--service", "cut-zst"]);
      expect([bytes, cutZst.exitCode]).toEqual([bytes, 1]);
      expect(cutZst.stderr).toEndWith("cut.zst is damaged or cut off: it does not unpack as zstd\n");
    }
    writeFileSync(join(home.path, "binary.gz"), gzipSync(readFileSync(process.execPath).subarray(0, 90_000)));
    const binary = await runCli(user, ["ship", "binary.gz"]);
    expect(binary.stderr).toContain("binary.gz is binary, not text, inside its gzip: nothing of it was sent");
  });
});

test("--since ships what is not older, with the stack that belongs to it, and what has no time, packed or not", async () => {
  using home = temporaryDirectory();
  const user = userOf(home);
  const at = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * 3_600_000).toISOString();
  const failure = (name: string, hoursAgo: number): string =>
    `${at(hoursAgo)} ERROR ${name} failure\njava.lang.IllegalStateException: ${name}\n\tat com.shop.Cart.pay(Cart.java:7)`;
  const data = (msg: string, hoursAgo: number): string =>
    JSON.stringify({ time: at(hoursAgo), level: "info", msg });
  const lines = [failure("old", 30), failure("new", 1), data("old", 3), data("new", 1), "without a time"];
  writeFileSync(join(home.path, "plain.log"), textOf(lines));
  writeFileSync(join(home.path, "packed.log.gz"), gzipSync(textOf(lines)));
  const expected = [
    "new failure\njava.lang.IllegalStateException: new\n\tat com.shop.Cart.pay(Cart.java:7)",
    "new",
    "without a time",
  ];
  for (const name of ["plain.log", "packed.log.gz"]) {
    await ship(user, name, "--since", "2h", "--service", name);
    await expectMessages(user, name, expected);
  }
  // Gone on with, the older ones stay where they are.
  appendFileSync(join(home.path, "plain.log"), textOf([data("older still", 40), data("later", 0)]));
  await ship(user, "plain.log", "--since", "2h", "--service", "plain.log");
  await expectMessages(user, "plain.log", [...expected, "later"]);
});

test("--dry-run shows what the first lines become, needs no server, and sends nothing", async () => {
  using home = temporaryDirectory();
  const user: CliUser = { directory: home.path, env: { OBS_URL: "http://127.0.0.1:1" } };
  writeFileSync(
    join(home.path, "app.log"),
    `plain\n{"message":"m","level":"error"}\n${textOf(linesOf("x", 50))}`,
  );
  const { exitCode, stdout, stderr } = await runCli(user, ["ship", "--dry-run", "app.log"]);
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/^nothing is sent; the first 10 entries of .*app\.log:\n$/);
  expect(stdout.split("\n").slice(0, 2)).toEqual([
    "(time of receipt)       app.log plain",
    "(time of receipt) error app.log m",
  ]);
  const json = await obs(user, ["ship", "--dry-run", "--json", "-"], '{"message":"n","attrs":{"x":1.0}}\n');
  expect(json).toBe('{"message":"n","attrs":{"x":1.0}}\n');
});

test("the report says what was found, and its commands show exactly that", async () => {
  using home = temporaryDirectory();
  const user = userOf(home);
  const entries = Array.from({ length: 30 }, (_, index) => ({
    message: `old ${index}`,
    ts: new Date(Date.UTC(2005, 5, 3, 15, index)).toISOString(),
    level: index % 3 === 0 ? "error" : "info",
    service: "report",
  }));
  const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  writeFileSync(join(home.path, "it's old.log"), text);
  writeFileSync(join(home.path, "it's older.log"), text);
  await obs(user, ["ship", "it's older.log"]);
  const { stderr } = await runCli(user, ["ship", "it's old.log"]);
  expect(stderr).toContain("from 2005-06-03T15:00:00.000Z to 2005-06-03T15:29:00.000Z\n");
  expect(stderr).toContain("levels: info 20, error 10\nservices: report 30\n");
  await findLines(user, "report", 60);
  const [search = "", query = ""] = stderr.split("to see them:\n")[1]?.split("\n") ?? [];
  const run = async (command: string): Promise<string> => {
    const shell = command.trim().replace(/^obs/, `${process.execPath} ${MAIN}`);
    const env = { ...user.env, PATH: process.env.PATH ?? "", HOME: home.path };
    const child = Bun.spawn(["sh", "-c", `${shell} --json`], { env, stdout: "pipe", stderr: "pipe" });
    return new Response(child.stdout).text();
  };
  const found = (await run(search)).trimEnd().split("\n");
  expect(found.map((line): unknown => JSON.parse(line).message).toSorted()).toEqual(
    entries.map(({ message }) => message).toSorted(),
  );
  const rows = (await run(query)).trimEnd().split("\n");
  expect(rows.map((line): unknown => JSON.parse(line)).toSorted()).toEqual(
    expect.arrayContaining([
      { level: "info", service: "report", count_: 20 },
      { level: "error", service: "report", count_: 10 },
    ]),
  );
});

const MAIN = join(import.meta.dir, "../../../clients/cli/main.ts");

describe("through a source", () => {
  test("lines become what its preset makes of them, and what it cannot map is told", async () => {
    using home = temporaryDirectory();
    const user = userOf(home);
    const record = {
      MESSAGE: "unit failed",
      PRIORITY: "3",
      _SYSTEMD_UNIT: "cron.service",
      _HOSTNAME: "web-1",
    };
    const input = `${JSON.stringify(record)}\nnot JSON at all\n`;
    const first = await runCli(user, ["ship", "-", "--preset", "journald"], input);
    expect(first.exitCode).toBe(0);
    expect(first.stderr).toStartWith("made the source journald with the preset journald\nshipped 2 lines");
    expect(first.stderr).toContain("not mapped by the source journald: 1 in the quarantine; the first: ");
    const output = await eventually("the entry", async () => {
      const text = await obs(user, ["search", "--json", "--query", 'message == "unit failed"']);
      return text !== "" && text;
    });
    expect(JSON.parse(output)).toMatchObject({ level: "error", host: "web-1" });
    const again = await runCli(
      user,
      ["ship", "-", "--source-key", "journald"],
      `${JSON.stringify(record)}\n`,
    );
    expect(again.stderr).toStartWith("shipped 1 lines");
    const other = await runCli(user, ["ship", "-", "--source-key", "journald", "--preset", "zap"], "{}\n");
    expect(other.stderr).toBe(
      "obs: the source journald has the preset journald, not zap: name another with --source-key\n",
    );
    const missing = await runCli(user, ["ship", "-", "--source-key", "nothing"], "{}\n");
    expect(missing).toMatchObject({ exitCode: 1 });
    expect(missing.stderr).toContain("there is no source nothing: add --preset NAME to make it");
  });

  test("a file is stored exactly once, however often its run is killed", async () => {
    using home = temporaryDirectory();
    const user = userOf(home);
    const lines = linesOf("sourced", 30_000);
    const text = lines.map((msg) => `${JSON.stringify({ msg, level: 50, name: "svc" })}\n`).join("");
    writeFileSync(join(home.path, "pino.log"), text);
    const args = ["ship", "pino.log", "--preset", "pino", "--source-key", "kills"];
    const child = spawnCli(user, args);
    await eventually("it is begun", () => filesBegun(user) > 0);
    child.kill("SIGKILL");
    await child.exited;
    await obs(user, args);
    await expectMessages(user, "svc", lines);
  });
});
