import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");

async function run(command: readonly string[]) {
  const child = Bun.spawn([...command], { cwd: ROOT, stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, error };
}

test.each(["bunx obs", "bun run obs"])(
  "%s adds no line to what the command line says, and keeps its exit code",
  async (command) => {
    const words = command.split(" ");
    const version = await run([...words, "--version"]);
    expect(version).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), error: "" });
    const refused = await run([...words, "nonsense"]);
    const hint = `(${command} --help lists what there is)`;
    expect(refused).toEqual({ code: 2, out: "", error: `error: unknown command 'nonsense'\n${hint}\n` });
  },
);
