import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryDirectory } from "./temporary-directory.ts";

const ROOT = join(import.meta.dir, "../..");
/** What users start. */
export const SERVER_SOURCES = join(ROOT, "src/main.ts");

/** Bun runs every test file in one process; what the files share hangs on the process, under a name nobody else takes. */
const KEY: unique symbol = Symbol.for("obs.test.server-program");
const registry: typeof globalThis & { [KEY]?: { starts: number; bundled?: Promise<string> } } = globalThis;

/**
 * What a test starts as the server. Of each process the first is what users start; those that follow are the same sources put
 * together in few files, once in each process, because to find and read 2 700 modules is a third of what a start costs. The proofs
 * start nothing but what users start.
 */
export function serverProgram(): Promise<string> {
  registry[KEY] ??= { starts: 0 };
  const shared = registry[KEY];
  shared.starts += 1;
  if (shared.starts === 1 || Bun.env.OBS_PROOF === "1") return Promise.resolve(SERVER_SOURCES);
  shared.bundled ??= bundle();
  return shared.bundled;
}

async function bundle(): Promise<string> {
  const { path } = temporaryDirectory();
  await Bun.build({
    entrypoints: [SERVER_SOURCES],
    target: "bun",
    splitting: true,
    outdir: path,
    plugins: [
      {
        name: "modules that know where they are",
        setup(build) {
          build.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
            contents: placed(path, await Bun.file(path).text()),
            loader: "ts",
          }));
          // A library that is loaded when it is used stays where it is installed, with the files beside it; of one that all
          // others stand on there is one copy only.
          build.onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) =>
            kind === "dynamic-import" && !path.startsWith("@elysiajs/")
              ? { path: Bun.resolveSync(path, dirname(importer)), external: true }
              : undefined,
          );
        },
      },
    ],
  });
  return join(path, "main.js");
}

/** A module that finds programs and files beside itself finds them from elsewhere, too. */
function placed(path: string, text: string): string {
  if (!text.includes("import.meta.")) return text;
  const directory = dirname(path);
  const members = [
    `dir: ${JSON.stringify(directory)}`,
    `url: ${JSON.stringify(pathToFileURL(path).href)}`,
    `resolve: (name) => Bun.pathToFileURL(Bun.resolveSync(name, ${JSON.stringify(directory)})).href`,
  ];
  return `const place = { ${members.join(", ")} }; ${text.replaceAll("import.meta.", "place.")}`;
}
