/** Installs senders for the tests beside it, by name or all but those of minutes: `bun run senders [NAME...]`. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderOf, INSTALLED, installed, SENDERS, type SenderName } from "./senders.ts";

const INSTALL_MAX_MS = 300_000;

async function install(name: SenderName): Promise<string> {
  const { needs, script } = SENDERS[name];
  if (installed(name) !== null) return "was here";
  const absent = needs.filter((program) => Bun.which(program) === null);
  if (absent.length > 0) return `not installed, as ${absent.join(" and ")} is not here`;
  const folder = folderOf(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const output = Bun.file(join(folder, "install.log"));
  const child = Bun.spawn(["sh", "-euc", `(${script}\n) 2>&1`], {
    cwd: folder,
    stdin: "ignore",
    stdout: output,
    timeout: INSTALL_MAX_MS,
  });
  if ((await child.exited) !== 0) return `not installed: ${output.name} says why`;
  writeFileSync(join(folder, INSTALLED), "");
  return "installed";
}

function isSender(name: string): name is SenderName {
  return Object.hasOwn(SENDERS, name);
}

const all = Object.keys(SENDERS).filter(isSender);
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !isSender(name));
if (unknown.length > 0) throw new Error(`no such sender: ${unknown.join(", ")}; there are ${all.join(", ")}`);
const chosen =
  asked.length > 0 ? asked.filter(isSender) : all.filter((name) => SENDERS[name].onDemand !== true);
for (const name of chosen) process.stdout.write(`${name}: ${await install(name)}\n`);
