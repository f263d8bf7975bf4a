import { expect, test } from "bun:test";
import { join } from "node:path";

const RUNNING = join(import.meta.dir, "../../src/server/running.ts");
const PROTOCOL = join(import.meta.dir, "../../src/domains/mcp/protocol.ts");
/** What most servers never use, and is loaded with its first use. */
const LATER = [
  ...["@modelcontextprotocol", "nodemailer", "playwright-core", "badge-maker", "@elysiajs/swagger"],
  ...["csv-parse", "feed", "maxmind", "yaml"],
];

/** The files of installed packages that are loaded with a module, in a process of its own. */
async function loadedWith(module: string): Promise<string[]> {
  const script = `await import(${JSON.stringify(module)});
    console.log(JSON.stringify(Object.keys(require.cache).filter((path) => path.includes("/node_modules/"))));
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
  const [text, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if (text === "") throw new Error(errors);
  const paths: unknown = JSON.parse(text);
  if (!Array.isArray(paths)) throw new Error("no list of files");
  return paths.map(String);
}

test("the server starts without the libraries that most never use, that of MCP among them", async () => {
  const loaded = await loadedWith(RUNNING);
  expect(loaded.some((path) => path.includes("/node_modules/postgres/"))).toBeTrue();
  for (const library of LATER)
    expect(loaded.filter((path) => path.includes(`/node_modules/${library}/`))).toEqual([]);
});

test("what speaks MCP loads its library, so that a start which loads it would be seen", async () => {
  const loaded = await loadedWith(PROTOCOL);
  expect(loaded.some((path) => path.includes("/node_modules/@modelcontextprotocol/"))).toBeTrue();
});
