/** The typed client as another project has it: a folder, the compiler as it comes, and a server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { typeText } from "../../clients/publish/routes-text.ts";
import { makeToken } from "../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const ROOT = join(import.meta.dir, "../..");
const MODULES = join(ROOT, "node_modules");

let directory: TemporaryDirectory;
let project: string;
let server: SharedServer;
beforeAll(async () => {
  directory = temporaryDirectory({ holdsPrograms: true });
  server = await sharedServer();
  project = join(directory.path, "project");
  const client = join(project, "node_modules/obs-api");
  const published = await run(ROOT, [
    process.execPath,
    "clients/publish/main.ts",
    client,
    `${server.url}/openapi.json`,
  ]);
  expect(published).toEqual({ code: 0, out: "" });
  // What npm would put there.
  cpSync(join(MODULES, "eventsource-parser"), join(project, "node_modules/eventsource-parser"), {
    recursive: true,
    dereference: true,
  });
  mkdirSync(join(project, "node_modules"), { recursive: true });
  symlinkSync(join(MODULES, "typescript"), join(project, "node_modules/typescript"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "another", type: "module" }));
  const compilerOptions = { target: "es2022", module: "nodenext", strict: true, types: [], outDir: "out" };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
});
afterAll(() => directory[Symbol.dispose]());

async function run(cwd: string, command: readonly string[]): Promise<{ code: number; out: string }> {
  const child = Bun.spawn([...command], { cwd, stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out: out + error };
}

const tsc = () => run(project, [join(MODULES, ".bin/tsc"), "-p", "."]);

test("the example of its README compiles in an empty project, with every declaration checked, and runs", async () => {
  const readme = readFileSync(join(project, "node_modules/obs-api/README.md"), "utf8");
  const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  const token = await makeToken(server.url);
  const call = `console.log(JSON.stringify(await findErrors(${JSON.stringify(server.url)}, ${JSON.stringify(token)})));\n`;
  writeFileSync(join(project, "main.ts"), `${example}\n${call}`);
  expect(await tsc()).toEqual({ code: 0, out: "" });
  const sent = await fetch(`${server.url}/api/v1/logs/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify([
      { message: "it broke", level: "error" },
      { message: "it works", level: "info" },
    ]),
  });
  expect(sent.ok).toBe(true);
  const node = Bun.which("node") ?? process.execPath;
  expect(await run(project, [node, "out/main.js"])).toEqual({ code: 0, out: '["it broke"]\n' });
});

test("a call that the server does not have, or that lacks something, does not compile", async () => {
  const wrong = [
    'api.call("GET /api/v1/nowhere")',
    'api.call("GET /api/v1/monitors/:id")',
    'api.call("POST /api/v1/saved-searches", { body: { nam: "x" } })',
    'api.call("GET /api/v1/saved-searches").then(([first]) => first.nothing)',
  ];
  const right =
    'api.call("GET /api/v1/saved-searches").then(([first]) => (first === undefined ? 0 : first.name.length))';
  const lines = [...wrong, right].map((call, n) => `export const call${n} = () => ${call};`);
  const head = 'import { ApiClient } from "obs-api"; const api = new ApiClient({ baseUrl: "" });';
  writeFileSync(join(project, "main.ts"), `${head}\n${lines.join("\n")}\n`);
  const { code, out } = await tsc();
  const told = [...out.matchAll(/^main\.ts\((\d+),/gm)].map(([, line]) => Number(line));
  expect([code, [...new Set(told)]]).toEqual([2, [2, 3, 4, 5]]);
});

test.each([
  [{ type: "string" }, "string"],
  [{ type: ["integer", "null"] }, "(number) | (null)"],
  [{ enum: ["a", 1, null] }, '("a") | (1) | (null)'],
  [{ anyOf: [{ $ref: "#/components/schemas/A" }, { type: "null" }] }, '(Schemas["A"]) | (null)'],
  [{ type: "array", items: { type: "boolean" } }, "(boolean)[]"],
  [
    { type: "object", required: ["a"], properties: { a: {}, "b-c": { const: "x" } } },
    '{ "a": unknown; "b-c"?: "x"; }',
  ],
  [{ type: "object", additionalProperties: { type: "string" } }, "{ [name: string]: string }"],
  [{ type: "object" }, "{ [name: string]: unknown }"],
])("a schema %j is the type %s", (schema, type) => {
  expect(typeText(schema)).toBe(type);
});
