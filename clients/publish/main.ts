/**
 * Writes the typed client as a package of its own, with the types of the routes of a server: JavaScript modules with their
 * declarations, which need neither this repository nor anything else.
 *
 *   bun clients/publish/main.ts FOLDER OPENAPI      OPENAPI: the address of a server's openapi.json, or a file of it
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { routesText } from "./routes-text.ts";

const ROOT = join(import.meta.dir, "../..");
const API = join(ROOT, "clients/api");
const DOOR = `export * from "./backoff.js";
export type * from "./calls.js";
export { ApiClient, type Fetch } from "./client.js";
export * from "./errors.js";
export { parseJsonExactly } from "./json.js";
export { OpenAnswer } from "./open-answer.js";
export * from "./page.js";
export type * from "./routes.js";
export * from "./stream.js";
`;

const [folder, source] = process.argv.slice(2);
if (folder === undefined || source === undefined) {
  process.stderr.write("usage: bun clients/publish/main.ts FOLDER OPENAPI\n");
  process.exit(2);
}
await publish(resolve(folder), await readDocument(source));

async function readDocument(place: string): Promise<unknown> {
  if (!/^https?:/.test(place)) return JSON.parse(readFileSync(place, "utf8"));
  const response = await fetch(place, { signal: AbortSignal.timeout(60_000) });
  if (!response.ok) throw new Error(`${place} answered ${response.status}`);
  return response.json();
}

async function publish(to: string, document: unknown): Promise<void> {
  const staged = mkdtempSync(join(tmpdir(), "obs-client-"));
  // Where the compiler finds what the modules import; of modules that lie in such a folder it would write nothing.
  symlinkSync(join(ROOT, "node_modules"), join(staged, "node_modules"));
  try {
    for (const name of readdirSync(API).filter((each) => each.endsWith(".ts"))) {
      const text = name === "routes.ts" ? routesText(document) : readFileSync(join(API, name), "utf8");
      writeFileSync(join(staged, name), text.replaceAll(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'));
    }
    // What the compiler does not know of JSON yet.
    copyFileSync(join(ROOT, "ingest/json-source-text.d.ts"), join(staged, "json-source-text.d.ts"));
    writeFileSync(join(staged, "index.ts"), DOOR);
    mkdirSync(to, { recursive: true });
    const compilerOptions = {
      ...{
        target: "es2022",
        module: "esnext",
        moduleResolution: "bundler",
        strict: true,
        skipLibCheck: true,
      },
      ...{ lib: ["esnext"], types: ["bun-types"], declaration: true, rootDir: ".", outDir: to },
    };
    writeFileSync(
      join(staged, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["index.ts", "json-source-text.d.ts"] }),
    );
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    const compiler = Bun.spawn([tsc, "-p", staged], { cwd: ROOT, stdout: "inherit", stderr: "inherit" });
    if ((await compiler.exited) !== 0) throw new Error("the client does not compile");
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
  const { version, dependencies } = manifest;
  const own = {
    ...{ name: "obs-api", version, type: "module", private: true, sideEffects: false },
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
    dependencies: { "eventsource-parser": dependencies["eventsource-parser"] },
  };
  writeFileSync(join(to, "package.json"), `${JSON.stringify(own, null, 2)}\n`);
  writeFileSync(join(to, "README.md"), readFileSync(join(API, "README.md")));
}
