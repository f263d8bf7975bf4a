/** Lists of records and what is done to them, as processes against the whole server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { makeToken, type ServerProcess } from "../../harness/server-process.ts";
import { startSuiteServer } from "../../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliResult, obs, runCli } from "./cli-process.ts";

let directory: TemporaryDirectory;
let server: ServerProcess;
let token: string;
beforeAll(async () => {
  directory = temporaryDirectory();
  server = await startSuiteServer();
  token = await makeToken(server.url);
});
afterAll(async () => {
  await server.stop();
  directory[Symbol.dispose]();
});

const user = () => ({ directory: directory.path, env: { OBS_URL: server.url, OBS_TOKEN: token } });
const run = (...args: readonly string[]): Promise<CliResult> => runCli(user(), args);
const json = async (...args: readonly string[]): Promise<Record<string, unknown>[]> =>
  (await obs(user(), [...args, "--json"]))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

async function post(path: string, body: object): Promise<{ readonly id: number }> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.ok).toBe(true);
  return JSON.parse(await response.text());
}

test("every list is there on an empty server, in words and as JSON", async () => {
  const lists = [
    "monitors",
    "incidents",
    "alerts",
    "detections",
    "silences",
    "maintenance",
    "cases",
    "errors",
    "iocs",
    "assets",
  ];
  for (const name of [
    ...lists.map((list) => [list]),
    ...["now", "schedules", "policies", "gaps"].map((list) => ["oncall", list]),
  ]) {
    const [words, lines] = [await run(...name), await run(...name, "--json")];
    expect([name, words.exitCode, words.stdout, words.stderr.startsWith("there are no ")]).toEqual([
      name,
      0,
      "",
      true,
    ]);
    expect([name, lines.exitCode, lines.stdout]).toEqual([name, 0, ""]);
  }
});

test("a monitor is listed, shown, paused and resumed, tested and silenced", async () => {
  const { id } = await post("/monitors", {
    ...{
      name: "Shop\u001b[2J",
      url: "https://shop.example.com/",
      type: "https",
      intervalSec: 3600,
      timeoutMs: 5000,
    },
    ...{ paused: true, tags: ["shop"] },
  });
  const { stdout } = await run("monitors");
  expect(stdout).toMatch(/^id +name +type +state +paused/);
  expect(stdout).toContain("Shop\\x1b[2J");
  expect(await json("monitors", "--tag", "shop")).toMatchObject([{ id, paused: true }]);
  expect(await json("monitors", "--tag", "other")).toEqual([]);
  expect((await run("monitors", "resume", String(id))).stderr).toBe(`monitor ${id} is checked again\n`);
  expect(await json("monitors", "show", String(id))).toMatchObject([{ id, paused: false }]);
  expect((await run("monitors", "pause", String(id))).exitCode).toBe(0);
  expect((await run("monitors", "show", String(id))).stdout).toMatch(/^paused +yes$/m);
  expect((await run("monitors", "test", String(id))).exitCode).toBe(0);
  expect((await run("monitors", "silence", String(id))).exitCode).toBe(2);
  expect((await run("monitors", "silence", String(id), "--for", "soon")).exitCode).toBe(2);
  expect((await run("monitors", "silence", String(id), "--for", "2h", "--reason", "a move")).exitCode).toBe(
    0,
  );
  const [silence] = await json("silences");
  expect(silence).toMatchObject({ monitorId: id, reason: "a move" });
  const lengthMs = Date.parse(String(silence?.endsAt)) - Date.parse(String(silence?.startsAt));
  expect(Math.abs(lengthMs - 2 * 3600_000)).toBeLessThan(600_000);
  expect((await run("silences", "end", String(silence?.id))).exitCode).toBe(0);
  expect(await json("silences")).toEqual([]);
  expect(await run("monitors", "show", "99999")).toMatchObject({ exitCode: 1 });
  expect(await run("monitors", "show", "1; drop")).toMatchObject({ exitCode: 2 });
});

test("an incident of a rule is acknowledged, noted, silenced with its group, and resolved", async () => {
  const rule = await post("/log-alerts", { name: "Fails", query: "disk full", groupBy: ["host"] });
  await obs(user(), ["ship", "-"], '{"message": "disk full", "host": "web-3"}\n');
  let open: Record<string, unknown>[] = [];
  await eventually("an incident of the rule", async () => {
    open = await json("incidents", "--status", "open");
    return open.length === 1;
  });
  const id = String(open[0]?.id);
  expect(await json("alerts", "--kind", "log")).toMatchObject([{ id: `log:${rule.id}`, name: "Fails" }]);
  expect(await json("detections", "--rule", `log:${rule.id}`)).toHaveLength(1);
  expect((await run("incidents", "ack", id)).stderr).toBe(`incident ${id} is acknowledged\n`);
  expect((await run("incidents", "note", id, "a look")).exitCode).toBe(0);
  expect((await run("incidents", "silence", id, "--for", "1d")).exitCode).toBe(0);
  expect(await json("silences")).toMatchObject([
    { ruleKind: "log", ruleId: rule.id, groupKey: { host: "web-3" } },
  ]);
  expect((await run("incidents", "resolve", id)).exitCode).toBe(0);
  expect(await json("incidents", "--status", "open")).toEqual([]);
  const [shown] = await json("incidents", "show", id);
  expect([shown?.acknowledgedAt, JSON.stringify(shown?.updates).includes("a look")]).toEqual([
    expect.any(String),
    true,
  ]);
  expect((await run("alerts", "pause", `log:${rule.id}`)).exitCode).toBe(0);
  expect(await json("alerts", "show", `log:${rule.id}`)).toMatchObject([{ enabled: false }]);
  expect(await run("alerts", "pause", String(rule.id))).toMatchObject({ exitCode: 2 });
});

test("says who is on call now", async () => {
  const { id } = await post("/on-call/schedules", { name: "First line" });
  const me: { id?: number; user?: { id: number } } = JSON.parse(
    await (await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })).text(),
  );
  expect(await json("oncall", "now")).toEqual([{ id, name: "First line", who: "nobody", until: null }]);
  const endsAt = new Date(Date.now() + 3600_000).toISOString();
  await post(`/on-call/schedules/${id}/rotations`, {
    userId: me.id ?? me.user?.id,
    startsAt: new Date(Date.now() - 3600_000).toISOString(),
    endsAt,
  });
  expect(await json("oncall", "now")).toEqual([
    { id, name: "First line", who: expect.stringContaining("@"), until: endsAt },
  ]);
});

test("cases take notes, and lists of more than are wanted say so", async () => {
  const first = await post("/cases", { title: "One" });
  await post("/cases", { title: "Two" });
  const limited = await run("cases", "--limit", "1");
  expect([limited.stdout.trim().split("\n").length, limited.stderr]).toEqual([
    2,
    expect.stringContaining("there are more"),
  ]);
  expect((await json("cases")).map(({ title }) => title)).toEqual(["Two", "One"]);
  expect((await run("cases", "note", String(first.id), "seen before")).exitCode).toBe(0);
  expect((await run("cases", "show", String(first.id))).stdout).toContain("seen before");
});

test("a token is made with the scopes that are said", async () => {
  const made = await run("token", "create", "--scopes", "monitors:read", "incidents:read", "--name", "reads");
  expect([made.exitCode, made.stderr]).toEqual([
    0,
    expect.stringContaining("may monitors:read, incidents:read"),
  ]);
  const narrow = { directory: directory.path, env: { OBS_URL: server.url, OBS_TOKEN: made.stdout.trim() } };
  expect((await runCli(narrow, ["monitors"])).exitCode).toBe(0);
  expect(await runCli(narrow, ["cases"])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("PAT_SCOPE_INSUFFICIENT"),
  });
});
