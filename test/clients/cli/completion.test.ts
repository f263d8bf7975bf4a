/** What completes `obs`, in the shells themselves; one that is not installed is passed over. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { obs } from "./cli-process.ts";

let directory: TemporaryDirectory;
beforeAll(async () => {
  directory = temporaryDirectory();
  const user = { directory: directory.path, env: {} };
  for (const shell of ["bash", "zsh", "fish"])
    writeFileSync(file(shell), await obs(user, ["completion", shell]));
});
afterAll(() => directory[Symbol.dispose]());

/** zsh finds it by this name. */
const file = (shell: string): string => join(directory.path, shell === "zsh" ? "_obs" : `obs.${shell}`);

async function linesOf(command: readonly string[]): Promise<string[]> {
  const child = Bun.spawn([...command], {
    cwd: directory.path,
    env: { HOME: directory.path, PATH: Bun.env.PATH ?? "", TERM: "dumb" },
    ...{ stdout: "pipe", stderr: "pipe", stdin: "ignore" },
  });
  return (await new Response(child.stdout).text()).split("\n").filter((line) => line !== "");
}

/** What is typed, and the only thing that it can become. */
const COMPLETED: readonly (readonly [typed: string, word: string])[] = [
  ["obs se", "search"],
  ["obs search --li", "--limit"],
  ["obs search --level f", "fatal"],
  ["obs token re", "revoke"],
  ["obs token create --for fl", "fluent-bit"],
  ["obs completion z", "zsh"],
  ["obs oncall sche", "schedules"],
  ["obs oncall schedules sh", "show"],
  ["obs oncall --json schedules sh", "show"],
];

const without = (shell: string): boolean => Bun.which(shell) === null;

test.skipIf(without("bash"))("bash completes commands below commands, options and values", async () => {
  for (const [typed, word] of COMPLETED) {
    const words = typed.split(" ");
    const call = `source ${file("bash")}; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _obs
printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect([typed, await linesOf(["bash", "-c", call])]).toEqual([typed, [word]]);
  }
});

test.skipIf(without("fish"))("fish completes commands below commands, options and values", async () => {
  for (const [typed, word] of COMPLETED) {
    const call = `source ${file("fish")}; complete -C '${typed}'`;
    expect([typed, await linesOf(["fish", "-N", "-c", call])]).toEqual([typed, [word]]);
  }
});

/** Types into one zsh on a terminal, whose `obs` says what it was called with. */
const ZSH = `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; fpath=($1 \\$fpath); autoload -U compinit; compinit -u -D; obs() { print -r -- \\"<\\$*>\\" }"
for typed in "\${@[2,-1]}"; do
  zpty -w z "$typed"$'\\tX'
  zpty -r -m z out '*<*X>*'
  print -r -- "$out" | tr -d '\\r'
done
zpty -d z`;

test.skipIf(without("zsh"))("zsh completes them too, from the first time on", async () => {
  const typed = COMPLETED.map(([text]) => text);
  const lines = await linesOf(["zsh", "-f", "-c", ZSH, "zsh", directory.path, ...typed]);
  const called = COMPLETED.map(([text, word]) => [...text.split(" ").slice(1, -1), word, "X"].join(" "));
  expect(lines.filter((line) => /^<.*X>$/.test(line))).toEqual(called.map((words) => `<${words}>`));
});
