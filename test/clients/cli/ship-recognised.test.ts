import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { eventually } from "../../harness/eventually.ts";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliUser, obs, runCli } from "./cli-process.ts";

const MAIN = join(import.meta.dir, "../../../clients/cli/main.ts");
const LOGHUB = join(import.meta.dir, "../../../../shared/data/loghub");
const SYSTEMS = ["Android", "Apache", "HDFS", "Hadoop", "Linux", "OpenSSH", "OpenStack", "Zookeeper"];

const APACHE = `[Sun Dec 04 04:47:44 2005] [notice] workerEnv.init() ok /etc/httpd/conf/workers2.properties
[Sun Dec 04 04:47:45 2005] [error] mod_jk child workerEnv in error state 6
[Mon Dec 05 19:15:57 2005] [error] [client 1.2.3.4] Directory index forbidden by rule: /var/www/html/
`;
const SYSLOG = `Jun 14 15:16:01 combo sshd(pam_unix)[19939]: authentication failure; uid=0
Jun 14 15:16:02 combo su[20]: session opened
`;
const PINO = `{"level":30,"time":1700000000123,"pid":7,"hostname":"web-1","name":"cart","msg":"paid","order":12345678901234567890}
{"level":50,"time":1700000001000,"pid":7,"hostname":"web-1","name":"cart","msg":"late"}
`;
const STACK = `2026-01-02 03:04:05,678 ERROR [main] com.shop.Cart - cannot pay
java.lang.IllegalStateException: no money
\tat com.shop.Cart.pay(Cart.java:7)

\tat com.shop.Main.main(Main.java:3)
Caused by: java.io.IOException: closed
\t... 2 more
2026-01-02 03:04:06,000 INFO [main] com.shop.Cart - going on
`;
const LOGFMT = `ts=2026-01-02T03:04:05Z level=warn msg="slow answer" took=3s path=/cart
`;

let server: SharedServer;
let token: string;

beforeAll(async () => {
  server = await sharedServer();
  token = await makeToken(server.url);
});

function userOf(home: TemporaryDirectory): CliUser {
  return { directory: home.path, env: { OBS_URL: server.url, OBS_TOKEN: token } };
}

/** What the lines become, as `--dry-run` shows it. */
async function becomes(text: string, ...args: string[]): Promise<unknown[]> {
  using home = temporaryDirectory();
  const options = ["ship", "--dry-run", "--json", "--zone", "Europe/Berlin", ...args];
  writeFileSync(join(home.path, "app.log"), text);
  const changed = new Date("2009-07-01T00:00:00Z");
  utimesSync(join(home.path, "app.log"), changed, changed);
  const output = await obs({ directory: home.path }, [...options, "--source", "s", "app.log"]);
  return output
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

describe("a line becomes what it says", () => {
  test("of Apache's errors, in the zone that is named", async () => {
    expect(await becomes(APACHE)).toEqual([
      expect.objectContaining({ level: "info", ts: "2005-12-04T03:47:44.000Z" }),
      {
        source: "s",
        level: "error",
        ts: "2005-12-04T03:47:45.000Z",
        message: "mod_jk child workerEnv in error state 6",
      },
      expect.objectContaining({
        message: "Directory index forbidden by rule: /var/www/html/",
        attrs: { "client.address": "1.2.3.4" },
      }),
    ]);
  });

  test("of syslog, in the year of the file's last change", async () => {
    expect(await becomes(SYSLOG)).toEqual([
      expect.objectContaining({
        ts: "2009-06-14T13:16:01.000Z",
        service: "sshd(pam_unix)",
        host: "combo",
        attrs: { "syslog.procid": "19939" },
      }),
      expect.objectContaining({ ts: "2009-06-14T13:16:02.000Z", service: "su", message: "session opened" }),
    ]);
  });

  test("of pino, with every digit of its numbers", async () => {
    const [paid, late] = await becomes(PINO);
    expect(paid).toMatchObject({
      ts: "2023-11-14T22:13:20.123Z",
      level: "info",
      service: "cart",
      host: "web-1",
    });
    expect(late).toMatchObject({ level: "error", message: "late" });
    using home = temporaryDirectory();
    const output = await obs({ directory: home.path }, ["ship", "--dry-run", "--json", "-"], PINO);
    expect(output).toContain('"order":12345678901234567890');
  });

  test("of a Java stack, which is one entry with the line above", async () => {
    const lines = STACK.split("\n");
    expect(await becomes(STACK)).toEqual([
      expect.objectContaining({
        ts: "2026-01-02T02:04:05.678Z",
        level: "error",
        message: ["cannot pay", ...lines.slice(1, 7)].join("\n"),
      }),
      expect.objectContaining({ message: "going on", level: "info" }),
    ]);
  });

  test("of logfmt", async () => {
    expect(await becomes(LOGFMT)).toEqual([
      {
        source: "s",
        ts: "2026-01-02T03:04:05.000Z",
        level: "warn",
        message: "slow answer",
        attrs: { took: "3s", path: "/cart" },
      },
    ]);
  });

  test("and nothing with --raw", async () => {
    expect(await becomes(STACK, "--raw")).toEqual(
      STACK.split("\n")
        .filter((line) => line !== "")
        .map((message) => ({ message, source: "s" })),
    );
  });

  test("and is judged by its time where --since is given", async () => {
    const kept = await becomes(APACHE, "--since", "2005-12-05T00:00:00Z");
    expect(kept).toEqual([expect.objectContaining({ ts: "2005-12-05T18:15:57.000Z" })]);
  });

  test("within what the API takes, whatever is too long", async () => {
    const long = {
      level: "info",
      msg: "é".repeat(20_000),
      name: "n".repeat(300),
      time: 1_700_000_000_000,
      huge: "h".repeat(70_000),
      ...Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, index])),
    };
    using home = temporaryDirectory();
    const user = userOf(home);
    const input = `${JSON.stringify(long)}\n2026-01-02 03:04:05 INFO \n0001-01-01 00:00:00 INFO never set\n`;
    const summary: unknown = JSON.parse(await obs(user, ["ship", "-", "--json", "--source", "long"], input));
    expect(summary).toMatchObject({ lines: 3, entries: 5, stored: 5, splitLines: 1 });
  });

  test("and a zone that nobody knows is refused", async () => {
    using home = temporaryDirectory();
    const result = await runCli({ directory: home.path }, ["ship", "--zone", "Europe/Nowhere", "a.log"]);
    expect(result.exitCode).toBe(2);
    expect(result.stderr).toContain("--zone takes a name such as Europe/Berlin");
  });
});

/** A command as a report shows it, run by a shell; gives the objects that it prints. */
async function runShown(user: CliUser, command: string): Promise<object[]> {
  const shell = command.trim().replace(/^obs/, `${process.execPath} ${MAIN}`);
  const env = { ...user.env, PATH: process.env.PATH ?? "", HOME: user.directory };
  const child = Bun.spawn(["sh", "-c", `${shell} --json`], { env, stdout: "pipe", stderr: "pipe" });
  const output = await new Response(child.stdout).text();
  return output
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line): object => JSON.parse(line));
}

/** The commands that the report names, run as they stand there until they show `count` entries; gives what they print. */
async function runReported(
  user: CliUser,
  report: string,
  count: number,
): Promise<{ found: object[]; rows: object[] }> {
  const [search = "", query = ""] = report.split("to see them:\n")[1]?.split("\n") ?? [];
  const run = (command: string): Promise<object[]> => runShown(user, command);
  const rows = await eventually(`${count} entries in the query's answer`, async () => {
    const counted = await run(query);
    return countOf(counted) === count && counted;
  });
  return { found: await run(search), rows };
}

test("of a file of hours two commands are named that tell which service failed most in its last hour, and what is new", async () => {
  using home = temporaryDirectory();
  const user = userOf(home);
  const lines = Array.from({ length: 180 }, (_, minute) => {
    const time = `2007-03-01 ${String(8 + Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}:00`;
    const [level, text] =
      minute < 60
        ? ["ERROR", "disk is full"]
        : minute < 130
          ? ["INFO", "order taken"]
          : ["ERROR", "payment refused by the bank"];
    return `${time} ${level} [main] com.shop.${minute < 130 ? "Cart" : "Payment"} - ${text}`;
  });
  const name = "it's hours.log";
  writeFileSync(join(home.path, name), `${lines.join("\n")}\n`);
  const { stderr } = await runCli(user, ["ship", name, "--service", "shop", "--zone", "UTC"]);
  await runReported(user, stderr, 180);
  const named = stderr.split("and what changed in it:\n")[1]?.split("\n") ?? [];
  const [failed, changed] = await Promise.all([
    runShown(user, named[0] ?? ""),
    runShown(user, named[1] ?? ""),
  ]);
  expect(failed).toEqual([{ service: "shop", errors: 50 }]);
  expect(changed).toMatchObject([{ patterns: [{ new: true, count: 50 }, { new: false }], total: 60 }]);
  const short = await runCli(user, ["ship", "-"], `${lines[0]}\n`);
  expect(short.stderr).not.toContain("last hour");
});

/** Of how many entries the rows tell. */
function countOf(rows: readonly object[]): number {
  return rows.reduce((sum, row) => sum + ("count_" in row ? Number(row.count_) : 0), 0);
}

test.each(["old.log", "old.log.gz"])(
  "the report of %s of 2005 says what it holds, and its commands show exactly that",
  async (name) => {
    using home = temporaryDirectory();
    const user = userOf(home);
    writeFileSync(join(home.path, name), name.endsWith(".gz") ? gzipSync(APACHE) : APACHE);
    const { stderr } = await runCli(user, ["ship", name, "--zone", "Europe/Berlin"]);
    expect(stderr).toContain("from 2005-12-04T03:47:44.000Z to 2005-12-05T18:15:57.000Z\n");
    expect(stderr).toContain("levels: error 2, info 1\n");
    expect(stderr).toContain("times without a zone were read as Europe/Berlin");
    expect(stderr).not.toContain("left as they were");
    const { found, rows } = await runReported(user, stderr, 3);
    expect(found.map((entry) => Object.hasOwn(entry, "ts"))).toEqual([true, true, true]);
    expect(rows).toHaveLength(2);
    const again = await runCli(user, ["ship", name, "--zone", "Europe/Berlin"]);
    expect(again.stderr).toStartWith("shipped 0 lines");
  },
);

describe("files of real systems", () => {
  const files = SYSTEMS.map((name) => [name, join(LOGHUB, name, `${name}_2k.log`)] as const);
  const there = files.filter(([, path]) => existsSync(path));
  if (there.length === 0) process.stderr.write("skipped: the collected real log files are not here\n");
  for (const [name, path] of there)
    test(`of ${name} have times, and their report's commands find them`, async () => {
      using home = temporaryDirectory();
      const user = userOf(home);
      const args = ["ship", path, "--source", name, "--zone", "UTC", "--restart"];
      const { stderr } = await runCli(user, args);
      expect(stderr).not.toContain("have the time of receipt");
      expect(stderr).not.toContain("left as they were");
      expect(stderr).toStartWith("shipped 2000 lines");
      const entries = Number(/(\d[\d ,]*) entr/.exec(stderr)?.[1]?.replace(/\D/g, "") ?? 2000);
      const { found } = await runReported(user, stderr, entries);
      expect(found).not.toBeEmpty();
    });
});
