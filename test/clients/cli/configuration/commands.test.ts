/** `obs export`, `plan`, `apply` and `drift` as processes, against the routes over real stores. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Listener, listen } from "../../../../src/http/server.ts";
import {
  type ConfigurationServer,
  configurationServer,
  type Organization,
} from "../../../domains/configuration/configuration-server.ts";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { type CliResult, runCli, spawnOnTerminal } from "../cli-process.ts";

let stores: TestStores;
let server: ConfigurationServer;
let listener: Listener;
let directory: TemporaryDirectory;
let made = 0;
beforeAll(async () => {
  stores = await openTestStores();
  server = configurationServer(stores);
  listener = listen(server.app.app, { hostname: "127.0.0.1", port: 0 });
  directory = temporaryDirectory();
});
afterAll(async () => {
  await listener.stop();
  await stores.close();
  directory[Symbol.dispose]();
});

/** Somebody with a folder of their own and an organisation. */
interface User {
  readonly organization: Organization;
  readonly folder: string;
  write(name: string, text: string): void;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CliResult>;
  environment(scopes?: string): Record<string, string>;
}

async function user(): Promise<User> {
  const name = `cli-${++made}`;
  const organization = await server.organization(name);
  const folder = join(directory.path, name);
  const environment = (scopes = "*") => ({
    OBS_URL: listener.url,
    OBS_TOKEN: `admin/${scopes}/${organization.userId}/${organization.id}`,
  });
  mkdirSync(folder);
  return {
    ...{ organization, folder, environment },
    write: (file, text) => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    },
    run: (args, env = {}) => runCli({ directory: folder, env: { ...environment(), ...env } }, args),
  };
}

const MONITOR = `monitors:
  web:
    name: Web
    url: https://example.org/health
    type: https
    intervalSec: 60
    timeoutMs: 5000
    alertWebhookUrl: { secret: env:HOOK_URL }
    headers: { authorization: { secret: file:token.txt } }
`;
const SEARCH = "saved-searches:\n  a: { name: A, q: words }\n";

describe("files of any layout", () => {
  test("are planned, applied, the same from then on, and drift when somebody changes a record", async () => {
    const ana = await user();
    ana.write("obs/production/web.yaml", MONITOR);
    ana.write("obs/production/token.txt", "Bearer file-s3cret\n");
    ana.write("obs/.hidden.yaml", "not: read");
    ana.write("obs/searches.yml", SEARCH);
    const env = { HOOK_URL: "https://hooks.example.org/env-s3cret" };
    const planned = await ana.run(["plan"], env);
    expect(planned).toMatchObject({
      exitCode: 2,
      stdout: "+ saved-searches/a\n+ monitors/web\n2 to create\n",
    });
    const [, planId = ""] = /apply obs --plan ([0-9a-f]{64})/.exec(planned.stderr) ?? [];
    expect(await ana.run(["apply", "--plan", planId], env)).toMatchObject({ exitCode: 0 });
    expect(await ana.run(["plan"], env)).toMatchObject({
      exitCode: 0,
      stdout: "2 as described\n",
      stderr: "",
    });
    expect(await ana.run(["apply", "--yes"], env)).toMatchObject({ exitCode: 0, stdout: "2 as described\n" });
    const [monitor] = await ana.organization.listed("/api/v1/monitors");
    const secrets = await ana.organization.read(`/api/v1/monitors/${monitor?.id}/secrets`);
    expect(secrets).toMatchObject({
      alertWebhookUrl: env.HOOK_URL,
      headers: { authorization: "Bearer file-s3cret" },
    });

    expect(await ana.run(["drift"])).toMatchObject({
      exitCode: 0,
      stdout: "all 2 records are as they were applied\n",
    });
    await ana.organization.send("PATCH", `/api/v1/monitors/${monitor?.id}`, {
      timeoutMs: 9000,
      headers: null,
    });
    const drift = await ana.run(["drift"]);
    expect(drift).toMatchObject({ exitCode: 2, stdout: expect.stringContaining("timeoutMs: 5000 -> 9000") });
    const back = await ana.run(["plan"], env);
    expect(back.stdout).toContain("! monitors/web  was changed by other means and is set back");
    expect(back.stdout).toContain("headers: another secret");
    // A plan from before does not hold any more.
    expect(await ana.run(["apply", "--plan", planId], env)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("PLAN_STALE"),
    });
    expect(JSON.stringify([planned, drift, back])).not.toContain("s3cret");
  });

  test("that nothing has to be asked about are applied without a terminal only with --yes; on one, yes does it", async () => {
    const ana = await user();
    ana.write("obs/a.yaml", SEARCH);
    expect(await ana.run(["apply"])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--yes") });
    const asked = spawnOnTerminal({ directory: ana.folder, env: ana.environment() }, ["apply"]);
    await eventually("it asks", async () => asked.screen().includes("[y/N]"));
    asked.type("n\r");
    expect(await asked.exited).toBe(1);
    expect(await ana.organization.export()).toEqual({});
    const again = spawnOnTerminal({ directory: ana.folder, env: ana.environment() }, ["apply"]);
    await eventually("it asks", async () => again.screen().includes("[y/N]"));
    again.type("y\r");
    expect(await again.exited).toBe(0);
    expect(await ana.organization.listed("/api/v1/saved-searches")).toHaveLength(1);
  });

  test("are written by export, and say then what is there", async () => {
    const ana = await user();
    ana.write("obs/all.yaml", MONITOR + SEARCH);
    ana.write("obs/token.txt", "x");
    await ana.run(["apply", "--yes"], { HOOK_URL: "https://hooks.example.org/s3cret" });
    expect(await ana.run(["export", "out"])).toMatchObject({
      exitCode: 0,
      stdout: "out/saved-searches.yaml\nout/monitors.yaml\n",
    });
    expect(readdirSync(join(ana.folder, "out")).toSorted()).toEqual(["monitors.yaml", "saved-searches.yaml"]);
    expect(readFileSync(join(ana.folder, "out/monitors.yaml"), "utf8")).toContain(
      "alertWebhookUrl:\n      secret: kept\n",
    );
    expect(await ana.run(["plan", "out"])).toMatchObject({ exitCode: 0, stdout: "2 as described\n" });
    expect(await ana.run(["export", "out"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is there already"),
    });
    expect(await ana.run(["export", "out", "--overwrite"])).toMatchObject({ exitCode: 0 });
    const json = await ana.run(["export", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      resources: { monitors: { web: { headers: { secret: "kept" } } } },
    });
  });
});

describe("what is wrong", () => {
  test("is told with its file, line and column, also what the server alone can know", async () => {
    const ana = await user();
    ana.write(
      "obs/a.yaml",
      `saved-searches:\n  a:\n    name: A\n    colour: red\n    rangeMinutes: 0\n  b:\n    query: x\n`,
    );
    ana.write("obs/b.yaml", `people: {}\n__proto__: { a: { name: A } }\n`);
    const refused = await ana.run(["plan"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr.trimEnd().split("\n").toSorted()).toEqual([
      expect.stringMatching(/^obs\/a\.yaml:5:19 rangeMinutes: must be/),
      expect.stringMatching(/^obs\/a\.yaml:6:3 name: is required/),
      expect.stringMatching(/^obs\/b\.yaml:1:1 people: is no kind/),
      expect.stringMatching(/^obs\/b\.yaml:2:1 __proto__: is no kind/),
      expect.stringMatching(/^obs: obs\/a\.yaml:4:13 colour: is not a known field/),
    ]);
    ana.write(
      "obs/a.yaml",
      `saved-searches:\n  a: { name: A, query: "nonsense(" }\nlog-alerts:\n  b:\n    name: B\n    kql: level ===\n`,
    );
    ana.write("obs/b.yaml", "");
    const judged = await ana.run(["plan"]);
    expect(judged.stderr).toContain("obs/a.yaml:2:24 query: ");
    expect(judged.stderr).toContain("obs/a.yaml:6:10 kql: ");
  });

  test("in the files themselves is told without asking the server, all of it at once", async () => {
    const ana = await user();
    ana.write("obs/a.yaml", `${SEARCH}  a: { name: twice }\nmonitors: [1]\n`);
    ana.write("obs/b.yaml", SEARCH);
    ana.write("obs/c.yaml", `- 1\n`);
    const refused = await ana.run(["plan"], { OBS_URL: "http://127.0.0.1:1" });
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("obs/a.yaml:3:3 a stands here twice");
    expect(refused.stderr).toContain("obs/a.yaml:4:1 has to hold records by their keys");
    expect(refused.stderr).toContain(
      "obs/b.yaml:2:3 saved-searches/a is described already, at obs/a.yaml:2:3",
    );
    expect(refused.stderr).toContain("obs/c.yaml:1:1 has to hold kinds of records");
  });

  test("a secret that is not there is told before anything is sent, every one of them", async () => {
    const ana = await user();
    ana.write("obs/a.yaml", MONITOR);
    for (const command of ["plan", "apply"]) {
      const refused = await ana.run([command], { OBS_URL: "http://127.0.0.1:1", HOOK_URL: "" });
      expect(refused).toMatchObject({
        exitCode: 1,
        stderr: "obs: obs/a.yaml:8:5 HOOK_URL is not set\nobs/a.yaml:9:16 token.txt cannot be read\n",
      });
    }
  });

  test("a token that may not is told which one may; no folder and no files are no plan", async () => {
    const ana = await user();
    ana.write("obs/a.yaml", SEARCH);
    const refused = await ana.run(["plan"], ana.environment("logs:read"));
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("token create --sign-in") });
    expect(await ana.run(["plan", "nowhere"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("nowhere cannot be read"),
    });
    // 2 would say that there are changes.
    expect(await ana.run(["plan", "--prnue"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("--prnue"),
    });
    ana.write("empty/readme.txt", "");
    expect(await ana.run(["apply", "empty", "--prune", "--yes"])).toMatchObject({
      exitCode: 1,
      stderr: "obs: empty has no YAML files\n",
    });
  });
});
