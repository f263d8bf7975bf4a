import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { createLogger } from "../../src/log.ts";
import type { Engine } from "../../src/storage/embedded/engine.ts";
import { isProcessAlive } from "../../src/storage/embedded/process-identity.ts";
import { Supervisor } from "../../src/storage/embedded/supervisor.ts";
import { eventually } from "../harness/eventually.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

let directory: TemporaryDirectory;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => {
  directory[Symbol.dispose]();
});

/** A shell script in the place of an engine: the supervisor's own duties need no database. */
function supervise(script: string, probe: Engine["probe"] = async () => undefined): Supervisor {
  const engine: Engine = {
    name: "Scripted",
    outputPath: join(directory.path, "engine.log"),
    prepare: async () => undefined,
    command: () => ({
      command: ["sh", "-c", script],
      environment: { PATH: "/usr/bin:/bin" },
      workingDirectory: directory.path,
    }),
    probe,
  };
  return new Supervisor(engine, createLogger("silent"));
}

const refuse = async () => {
  throw new Error("not yet");
};

test("an engine that cannot start fails the start with its own last words", async () => {
  const supervisor = supervise("echo 'no space left' >&2; exit 3", refuse);
  await expect(supervisor.start()).rejects.toThrow(
    `The embedded Scripted ended (exit code 3); see ${join(directory.path, "engine.log")}.\nno space left`,
  );
  expect(supervisor.status()).toMatchObject({ state: "stopped", restarts: 0, pid: null });
});

test("stopping closes the engine's standard input and waits for its end", async () => {
  const supervisor = supervise("cat >/dev/null; echo done >ended");
  await supervisor.start();
  await supervisor.stop();
  expect(await Bun.file(join(directory.path, "ended")).text()).toBe("done\n");
  expect(supervisor.status()).toMatchObject({ state: "stopped", pid: null });
});

test("an engine that does not stop in time is killed", async () => {
  const supervisor = supervise("while :; do sleep 0.05; done");
  await supervisor.start();
  const { pid } = supervisor.status();
  await supervisor.stop(100);
  expect(pid !== null && isProcessAlive(pid)).toBe(false);
});

test("stopping ends an engine that is starting, and the start fails", async () => {
  const supervisor = supervise("cat >/dev/null", refuse);
  const started = supervisor.start();
  await eventually("a process is there", () => supervisor.status().pid);
  await supervisor.stop();
  await expect(started).rejects.toThrow("was stopped while it started");
});

test("an engine that ends again and again is restarted each time", async () => {
  const supervisor = supervise("sleep 0.02");
  await supervisor.start();
  await eventually("three restarts", () => supervisor.status().restarts >= 3);
  await supervisor.stop();
});

test("an engine sees nothing of the server's environment and is no member of its session", async () => {
  const supervisor = supervise("env >environment; ps -o sid= -p $$ >session 2>/dev/null; cat >/dev/null");
  await supervisor.start();
  const { pid } = supervisor.status();
  await supervisor.stop();
  const environment = await Bun.file(join(directory.path, "environment")).text();
  expect(environment.split("\n").filter((line) => /^(HOME|USER|SHELL|OBS_\w+)=/.test(line))).toEqual([]);
  const session = Bun.file(join(directory.path, "session"));
  if ((await session.exists()) && session.size > 0) expect(Number(await session.text())).toBe(Number(pid));
});
