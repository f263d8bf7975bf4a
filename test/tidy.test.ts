/**
 * The repository's own rules, checked like any other behaviour. Needs no service and takes well under a second.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

const ROOT = normalize(join(import.meta.dir, ".."));
const SOURCE_FOLDERS = ["src", "ingest", "query", "clients", "bench"];
/** Top-level folder -> the folders it may import from, besides itself and packages. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  query: [],
  ingest: [],
  src: ["ingest", "query"],
  clients: ["query"],
  bench: ["src", "ingest", "query", "test"],
  test: ["src", "ingest", "query", "clients", "bench"],
};
/**
 * The folders of `src/` from the top floor down: each imports only from floors below its own, never sideways. `domains` are
 * all on one floor, so that none imports another; what lies directly in `src/` is the ground, and `main.ts` the roof.
 */
const FLOORS: readonly (readonly string[])[] = [
  ["server"],
  ["domains"],
  ["identity", "receive"],
  ["archive", "kql", "mining", "notify"],
  ["membership"],
  ["http"],
  ["changes"],
  ["audit", "outbound", "usage"],
  ["jobs"],
  ["storage"],
  ["config"],
  ["access", "concurrency", "health"],
];
/** Types only, like nothing else that clients take from `src/`. */
const API_TABLE = "src/server/api-table.ts";
const LIBRARY_DOORS = ["ingest/index.ts", "query/index.ts"];
const VAGUE_NAMES = /^(utils?|helpers?|common|misc|shared)(\.|$)/;
const MAX_FILE_LINES = 300;
const MAX_TEST_FILE_LINES = 500;
/** Longer than any poll. */
const SLEEP_MAX_MS = 1000;

interface SourceFile {
  path: string;
  text: string;
  lines: readonly string[];
  /** Paths from the root of the project's own modules that are needed at run time. */
  imports: readonly string[];
  /** The same, and those that only types are taken from. */
  allImports: readonly string[];
  packages: readonly string[];
}

const transpiler = new Bun.Transpiler({ loader: "ts" });
const tracked = listFiles();
const sources = tracked
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
  .map(readSource)
  .sort((a, b) => a.path.localeCompare(b.path));
const production = sources.filter(({ path }) => SOURCE_FOLDERS.includes(topFolder(path)));

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
  };
}

function resolved(path: string, specifier: string): string {
  return relative(ROOT, normalize(join(ROOT, dirname(path), specifier)));
}

function topFolder(path: string): string {
  return path.split("/")[0] ?? "";
}

/** The folder of `src/` a file lies in, each domain being one; empty for what lies directly in `src/`. */
function roomOf(path: string): string {
  const parts = path.split("/");
  if (parts.length === 2) return "";
  return parts[1] === "domains" ? `domains/${parts[2]}` : (parts[1] ?? "");
}

/** Counted from the ground. Throws for a folder that has no floor yet. */
function floorOf(path: string): number {
  const room = roomOf(path).split("/")[0] ?? "";
  if (room === "") return 0;
  const fromTop = FLOORS.findIndex((rooms) => rooms.includes(room));
  if (fromTop === -1) throw new Error(`${path}: src/${room} has no floor in FLOORS`);
  return FLOORS.length - fromTop;
}

/** `path:line text` of every line that matches. */
function linesMatching(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  );
}

describe("structure", () => {
  test("imports go one way between the top folders", () => {
    const wrong = sources.flatMap(({ path, imports }) => {
      const allowed = [topFolder(path), ...(MAY_IMPORT[topFolder(path)] ?? [])];
      return imports
        .filter((target) => target.includes("/") && !allowed.includes(topFolder(target)))
        .map((target) => `${path} -> ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  test("imports go down between the folders of src", () => {
    const wrong = sources
      .filter(({ path }) => topFolder(path) === "src" && path !== "src/main.ts")
      .flatMap(({ path, allImports }) =>
        allImports
          .filter((target) => topFolder(target) === "src" && roomOf(target) !== roomOf(path))
          .filter((target) => floorOf(target) >= floorOf(path))
          .map((target) => `${path} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  test("another library is entered through its door only", () => {
    const wrong = production.flatMap(({ path, imports }) =>
      imports
        .filter((target) => ["ingest", "query"].includes(topFolder(target)))
        .filter((target) => topFolder(path) === "src" && !LIBRARY_DOORS.includes(target))
        .map((target) => `${path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("clients import the types of the routes, the query library by its door, and the typed client no other", () => {
    const mayImport = (path: string, target: string): boolean =>
      [API_TABLE, "query/index.ts", "package.json"].includes(target) ||
      target.startsWith(path.startsWith("clients/api/") ? "clients/api/" : "clients/");
    const wrong = production
      .filter(({ path }) => topFolder(path) === "clients")
      .flatMap(({ path, allImports }) =>
        allImports.filter((target) => !mayImport(path, target)).map((target) => `${path} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  test("the typed client needs nothing that a browser lacks", () => {
    const files = sources.filter(({ path }) => path.startsWith("clients/api/"));
    expect(linesMatching(files, /"(node|bun)[:"]|\b(Bun|Buffer|process|require)\b/)).toEqual([]);
  });

  test("nobody imports a program's entry point", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports.filter((target) => target.endsWith("/main.ts")).map((target) => `${path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("there is no import cycle", () => {
    expect(findCycle(new Map(sources.map(({ path, imports }) => [path, imports])))).toEqual([]);
  });

  test("every relative import names a file that exists", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports.filter((target) => !existsSync(join(ROOT, target))).map((target) => `${path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("names say what is inside", () => {
    const wrong = tracked.filter((path) => path.split("/").some((part) => VAGUE_NAMES.test(part)));
    expect(wrong).toEqual([]);
    const doors = tracked.filter((path) => /(^|\/)index\.ts$/.test(path) && !LIBRARY_DOORS.includes(path));
    expect(doors).toEqual([]);
  });

  test("files are short", () => {
    const long = sources
      .map(({ path, lines }) => ({
        path,
        lines: lines.length,
        max: topFolder(path) === "test" ? MAX_TEST_FILE_LINES : MAX_FILE_LINES,
      }))
      .filter(({ lines, max }) => lines > max + 1)
      .map(({ path, lines }) => `${path}: ${lines}`);
    expect(long).toEqual([]);
  });

  test("migrations are numbered without a gap or a repetition", () => {
    for (const store of ["postgres", "clickhouse"]) {
      const numbers = tracked
        .filter((path) => path.startsWith(`migrations/${store}/`))
        .map((path) => Number(/\/(\d{4})_[a-z0-9_]+\.sql$/.exec(path)?.[1]));
      expect(numbers.sort((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
    }
  });
});

describe("code", () => {
  test("only the configuration reads the environment", () => {
    const readers = linesMatching(production, /\b(process|Bun|import\.meta)\.env\b/).map(
      (line) => line.split(":")[0],
    );
    const allowed = ["src/main.ts", "clients/cli/context.ts"];
    expect(readers.filter((path) => !allowed.includes(path ?? "") && !path?.startsWith("bench/"))).toEqual(
      [],
    );
  });

  test("types are not overruled", () => {
    expect(
      linesMatching(sources, /\bas any\b|\bas unknown as\b|@ts-(ignore|nocheck|expect-error)/).filter(
        notThisFile,
      ),
    ).toEqual([]);
  });

  test("nothing is left over", () => {
    const leftovers = /\b(TODO|FIXME|XXX|HACK)\b|\.only\(|\btest\.todo\b|\bdebugger\b/;
    expect(linesMatching(sources, leftovers).filter(notThisFile)).toEqual([]);
  });

  test("every dependency is used, and every package used is declared", () => {
    const manifest: { dependencies: Record<string, string>; devDependencies: Record<string, string> } =
      JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const used = new Set(sources.flatMap(({ packages }) => packages.map(packageName)));
    const mentioned = (name: string): boolean =>
      used.has(name) ||
      sources.some(({ path, text }) => path !== "test/tidy.test.ts" && text.includes(`"${name}`));
    expect(Object.keys(manifest.dependencies).filter((name) => !mentioned(name))).toEqual([]);
    const declared = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
    const undeclared = [...used].filter((name) => !declared.includes(name) && !/^(node|bun)(:|$)/.test(name));
    expect(undeclared).toEqual([]);
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d/.test(version))).toEqual([]);
  });
});

describe("tests", () => {
  const tests = sources.filter(({ path }) => topFolder(path) === "test" && path !== "test/tidy.test.ts");

  test("assert nothing about how long something took: a machine may be ten times slower", () => {
    const difference = /expect\(\s*(?:await )?\(?(?:performance|Date)\.now\(\)\s*-/;
    const sinceStart = /expect\([^;]*\s- (?:start|begin|begun|stop|abort)\w*(?:Ms|At)\b/;
    const elapsed = /expect\(\s*(?:elapsed|took|duration)\w*\s*\)\.toBe(?:Less|Within)/;
    const timed = [difference, sinceStart, elapsed].flatMap((pattern) => linesMatching(tests, pattern));
    expect(timed).toEqual([]);
  });

  test("wait for a condition rather than for a time", () => {
    const sleeps = linesMatching(tests, /Bun\.sleep\([\d_]+\)/).filter(
      (line) => Number(/sleep\(([\d_]+)\)/.exec(line)?.[1]?.replaceAll("_", "")) > SLEEP_MAX_MS,
    );
    expect(sleeps).toEqual([]);
  });
});

describe("text", () => {
  const texts = tracked
    .filter((path) => /\.(ts|md|sql|json|toml|lock|txt|sh)$|^\.ci\//.test(path))
    .filter((path) => path !== "test/tidy.test.ts")
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

  test("no path of somebody's machine and no registry's host is in the repository", () => {
    const forbidden = /(^|[^.\w])\/(work|root|farm)\/|registry\.[a-z]+js|[a-z.]*debian\.org/;
    expect(texts.filter(({ text }) => forbidden.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("documents name only files that exist", () => {
    const wrong = texts
      .filter(({ path }) => path.endsWith(".md"))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`((?:src|ingest|query|clients|bench|test|docs|migrations)\/[\w./-]+)`/g)]
          .map((match) => match[1] ?? "")
          .filter((target) => !existsSync(join(ROOT, target)))
          .map((target) => `${path} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });
});

function notThisFile(line: string): boolean {
  return !line.startsWith("test/tidy.test.ts");
}

function packageName(specifier: string): string {
  const parts = specifier.split("/");
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

/** The files of one import cycle, in order; empty when there is none. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
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
