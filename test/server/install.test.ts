/** The command line as the server itself installs it: for one user, checked by its hash, and away again. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeToken } from "../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const SHELLCHECK = Bun.which("shellcheck");

let directory: TemporaryDirectory;
let home: TemporaryDirectory;
let server: SharedServer;
let token: string;
let script: string;
beforeAll(async () => {
  directory = temporaryDirectory({ holdsPrograms: true });
  home = temporaryDirectory({ holdsPrograms: true });
  server = await sharedServer();
  token = await makeToken(server.url);
  script = join(directory.path, "install.sh");
  const response = await fetch(`${server.url}/install.sh`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.headers.get("content-type")).toStartWith("text/x-shellscript");
  writeFileSync(script, (await response.text()).replace(/^url=.*$/m, `url='${server.url}'`));
});
afterAll(() => {
  directory[Symbol.dispose]();
  home[Symbol.dispose]();
});

async function run(command: readonly string[]) {
  const child = Bun.spawn([...command], {
    env: { HOME: home.path, PATH: Bun.env.PATH ?? "" },
    ...{ stdout: "pipe", stderr: "pipe", stdin: "ignore" },
  });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, error };
}

test("the script is for who may sign in, and holds no token; the command line is for everybody", async () => {
  expect((await fetch(`${server.url}/install.sh`)).status).toBe(401);
  expect(await Bun.file(script).text()).not.toContain(token);
  const bundle = await fetch(`${server.url}/install/obs.js`);
  expect([bundle.status, bundle.headers.get("content-type")]).toEqual([
    200,
    "text/javascript; charset=utf-8",
  ]);
});

test("installs for one user, ships what it is told to, and takes all of it away again", async () => {
  const installed = await run(["sh", script, "--ship", "/var/log/some.log"]);
  expect(installed).toMatchObject({ code: 0 });
  const obs = join(home.path, ".local/bin/obs");
  expect((await run([obs, "--version"])).out.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  expect((await run(["sh", "-c", `OBS_TOKEN=${token} ${obs} search nothing`])).error).not.toContain(
    "not reached",
  );
  expect(await Bun.file(join(home.path, ".config/systemd/user/obs-ship.service")).text()).toContain(
    "/var/log/some.log",
  );
  expect((await run(["sh", script])).code).toBe(0);
  expect((await run(["sh", script, "--uninstall"])).code).toBe(0);
  expect(existsSync(obs) || existsSync(join(home.path, ".local/share/obs"))).toBe(false);
});

test("installs nothing that has another hash, and says what it does not know", async () => {
  const other = join(directory.path, "other.sh");
  writeFileSync(
    other,
    (await Bun.file(script).text()).replace(/^sha256='.{64}'$/m, `sha256='${"0".repeat(64)}'`),
  );
  const { code, error } = await run(["sh", other]);
  expect([code, error.includes("is not what this script is for")]).toEqual([1, true]);
  expect(existsSync(join(home.path, ".local/bin/obs"))).toBe(false);
  expect(await run(["sh", script, "--frobnicate"])).toMatchObject({ code: 1 });
});

test.skipIf(SHELLCHECK === null)("is without a finding of shellcheck", async () => {
  expect(await run([SHELLCHECK ?? "", "--shell=sh", script])).toMatchObject({ code: 0, out: "" });
});
