import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

export const ROOT = normalize(join(import.meta.dir, "../.."));

interface SourceFile {
  path: string;
  text: string;
  lines: readonly string[];
  /** Paths from the root of the project's own modules that are needed at run time. */
  imports: readonly string[];
  /** The same, and those that only types are taken from. */
  allImports: readonly string[];
  packages: readonly string[];
  /** Names that others can import. */
  exports: readonly string[];
  /** Names of other files that are imported or handed on, after `path#`; `path#*` where all are. */
  taken: readonly string[];
}

const EXPORTED =
  /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
const CLAUSE = /\b(?:import|export)\s+(?:type\s+)?(?:\{([^}]*)\}|\*[^"]*?)\s*from\s*"(\.[^"]+)"/g;

const transpiler = new Bun.Transpiler({ loader: "ts" });
export const tracked = listFiles();
export const sources = tracked
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
  .map(readSource)
  .sort((a, b) => a.path.localeCompare(b.path));

function listFiles(): string[] {
  const { stdout, exitCode } = Bun.spawnSync(["git", "ls-files", "-co", "--exclude-standard"], { cwd: ROOT });
  if (exitCode !== 0) throw new Error("git could not list the files");
  return stdout
    .toString()
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(ROOT, path)));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), "utf8");
  const specifiers = transpiler.scanImports(text.replace(/^#!.*/, "")).map((found) => found.path);
  const own = specifiers.filter((specifier) => specifier.startsWith("."));
  return {
    path,
    text,
    lines: text.split("\n"),
    imports: own.map((specifier) => resolved(path, specifier)),
    allImports: [...text.matchAll(/(?:\bfrom|\bimport\()\s*"(\.[^"]+)"/g)].map((match) =>
      resolved(path, match[1] ?? ""),
    ),
    packages: specifiers.filter((specifier) => !specifier.startsWith(".")),
    exports: [...text.matchAll(EXPORTED)].map((match) => match[1] ?? ""),
    taken: takenNames(path, text),
  };
}

function resolved(path: string, specifier: string): string {
  return relative(ROOT, normalize(join(ROOT, dirname(path), specifier)));
}

function takenNames(path: string, text: string): string[] {
  const named = [...text.matchAll(CLAUSE)].flatMap(([, names, specifier = ""]) => {
    const target = resolved(path, specifier);
    if (names === undefined) return [`${target}#*`];
    return names.split(",").map(
      (name) =>
        `${target}#${
          name
            .replace(/^\s*type\s/, "")
            .trim()
            .split(" ")[0]
        }`,
    );
  });
  const asTypes = [...text.matchAll(/import\("(\.[^"]+)"\)(?:\.(\w+))?/g)].map(
    ([, specifier = "", name = "*"]) => `${resolved(path, specifier)}#${name}`,
  );
  return [...named, ...asTypes];
}

export function topFolder(path: string): string {
  return path.split("/")[0] ?? "";
}

/** `path:line text` of every line that matches. */
export function linesMatching(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  );
}

/** The files of one import cycle, in order; empty when there is none. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] => {
    const from = trail.indexOf(path);
    if (from >= 0) return trail.slice(from);
    if (done.has(path)) return [];
    for (const target of graph.get(path) ?? []) {
      const cycle = visit(target, [...trail, path]);
      if (cycle.length > 0) return cycle;
    }
    done.add(path);
    return [];
  };
  for (const path of graph.keys()) {
    const cycle = visit(path, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
