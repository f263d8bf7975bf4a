/** `obs patterns` against a started server: what was shipped comes back as forms with their counts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliUser, obs, runCli } from "./cli-process.ts";

const HOUR_MS = 3_600_000;
/** The hour that is asked for has as much time behind it, which is what it is compared with. */
const TO = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
const FROM = new Date(TO.getTime() - HOUR_MS);
const RANGE = ["--from", FROM.toISOString(), "--to", TO.toISOString()];

let directory: TemporaryDirectory;
let server: SharedServer;
let user: CliUser;
let other: CliUser;

beforeAll(async () => {
  directory = temporaryDirectory();
  server = await sharedServer();
  user = await userWithToken();
  other = await userWithToken();
  const before = FROM.getTime() - HOUR_MS / 2;
  const during = FROM.getTime() + HOUR_MS / 2;
  const requests = (count: number, epochMs: number) =>
    entriesAt(
      epochMs,
      "info",
      "web",
      Array.from({ length: count }, (_, i) => `request ${100 + i} took ${i * 7} ms`),
    );
  await ship(user, [
    ...requests(6, before),
    ...entriesAt(before, "info", "web", ["started worker 3", "started worker 4"]),
    ...requests(12, during),
    ...entriesAt(
      during,
      "error",
      "db",
      Array.from({ length: 4 }, (_, i) => `磁盘 sda${i} 已满`),
    ),
  ]);
  await ship(other, entriesAt(during, "fatal", "web", ["a secret of somebody else 1"]));
});

afterAll(() => directory[Symbol.dispose]());

async function userWithToken(): Promise<CliUser> {
  return {
    directory: directory.path,
    env: { OBS_URL: server.url, OBS_TOKEN: await makeToken(server.url) },
  };
}

function entriesAt(epochMs: number, level: string, service: string, messages: readonly string[]): object[] {
  return messages.map((message, i) => ({
    message,
    level,
    service,
    ts: new Date(epochMs + i * 1000).toISOString(),
  }));
}

async function ship(shipper: CliUser, entries: readonly object[]): Promise<void> {
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  await obs(shipper, ["ship", "-"], lines);
}

test("counts the messages of each form, marks the new ones and lists those that are gone", async () => {
  const { exitCode, stdout, stderr } = await runCli(user, ["patterns", ...RANGE]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "2 patterns of 16 entries\n" });
  const [header, requests, disks, gap, vanishedHeader, vanished] = stdout.split("\n");
  expect(header).toMatch(/^count +share +trend +levels +services +pattern$/);
  expect(requests).toMatch(/^ +12 +75\.0% +\S+ +info +web +request <\*> took <\*> ms$/);
  expect(disks).toMatch(/^ +4 +25\.0% +\S+ +new +error +db +磁盘 sda<\*> 已满$/);
  expect([gap, vanishedHeader]).toEqual(["", "before  vanished pattern"]);
  expect(vanished).toMatch(/^ +2 +started worker <\*>$/);
});

test("counts only what words, service, level and query let through", async () => {
  const totals = async (...flags: string[]): Promise<unknown> => {
    const report: unknown = JSON.parse(await obs(user, ["patterns", ...flags, ...RANGE, "--json"]));
    return typeof report === "object" && report !== null && "total" in report ? report.total : report;
  };
  expect(await totals("已满")).toBe(4);
  expect(await totals("--service", "web")).toBe(12);
  expect(await totals("--level", "error")).toBe(4);
  expect(await totals("--query", 'message has "105" or service == "db"')).toBe(5);
  expect(await totals("--service", "nowhere")).toBe(0);
});

test("shows nothing of another organization", async () => {
  const { stdout, stderr } = await runCli(other, ["patterns", ...RANGE]);
  expect(stderr).toBe("1 pattern of 1 entry\n");
  expect(stdout).toContain("a secret of somebody else");
  expect(stdout).not.toContain("request");
});

test("points at the place of a mistake in the query", async () => {
  const { exitCode, stdout, stderr } = await runCli(user, [
    "patterns",
    ...RANGE,
    "--query",
    "tolowr(message) == 1",
  ]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain("tolower");
  expect(stderr).toContain("^^^^^^");
});
