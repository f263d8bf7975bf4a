/**
 * The repository's own rules, checked like any other behaviour. Needs no service and takes well under a second.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findCycle, linesMatching, ROOT, sources, topFolder, tracked } from "./tidy/source-files.ts";

const SOURCE_FOLDERS = ["src", "ingest", "query", "clients", "bench"];
/** Top-level folder -> the folders it may import from, besides itself and packages. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  query: [],
  ingest: [],
  src: ["ingest", "query"],
  clients: ["query", "ingest"],
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
  ["entities"],
  ["identity", "receive", "rules"],
  [
    "archive",
    "configuration",
    "incidents",
    "kql",
    "maintenance",
    "membership",
    "mining",
    "notify",
    "on-call",
    "stack-traces",
    "tools",
    "uptime",
  ],
  ["http", "problems"],
  ["changes"],
  ["probes"],
  ["audit", "log-store", "outbound", "usage"],
  ["jobs"],
  ["storage"],
  ["config"],
  ["access", "concurrency", "health"],
];
/** Types only, like nothing else that clients take from `src/`. */
const API_TABLE = "src/server/domains.ts";
/** What of `ingest/` reads lines by itself, without anything that stores: clients have it, too. */
const RECOGNISE_DOOR = "ingest/recognise/index.ts";
/** What of `src/` the command line is built with: the checks of monitors, which `obs probe` makes elsewhere. */
const PROBES_DOOR = "src/probes/index.ts";
/** Finds literals in bytes and knows nothing of queries: what rules of ingest are looked for with, too. */
const FINDER = "query/bytes/literal-finder.ts";
const LIBRARY_DOORS = ["ingest/index.ts", "query/index.ts", RECOGNISE_DOOR, PROBES_DOOR];
/** Programs, tests and proofs of types: what nobody imports by its nature. */
const STANDS_ALONE = /\.test\.ts$|\.types\.ts$|\/main\.ts$|^bench\/[^/]+\.ts$/;
const VAGUE_NAMES = /^(utils?|helpers?|common|misc|shared)(\.|$)/;
const MAX_FILE_LINES = 300;
const MAX_TEST_FILE_LINES = 500;
/** Longer than any poll. */
const SLEEP_MAX_MS = 1000;
/** What `test/harness/defaults.ts` gives every test and hook; and what is no limit of a test but an interval. */
const DEFAULT_LIMIT_MS = 600_000;
const SHORT_LIMIT_MIN_MS = 1000;

const production = sources.filter(({ path }) => SOURCE_FOLDERS.includes(topFolder(path)));

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

describe("structure", () => {
  test("imports go one way between the top folders", () => {
    const wrong = sources.flatMap(({ path, imports }) => {
      const allowed = [topFolder(path), ...(MAY_IMPORT[topFolder(path)] ?? [])];
      return imports
        .filter((target) => target.includes("/") && !allowed.includes(topFolder(target)))
        .filter((target) => topFolder(path) !== "ingest" || target !== FINDER)
        .filter((target) => !(path.startsWith("clients/cli/") && target === PROBES_DOOR))
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

  test("clients import the types of the routes, the query library, the recogniser and the probes by their doors, and the typed client no other", () => {
    const mayImport = (path: string, target: string): boolean =>
      [API_TABLE, "query/index.ts", RECOGNISE_DOOR, "package.json"].includes(target) ||
      (target === PROBES_DOOR && path.startsWith("clients/cli/")) ||
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

  test("every exported name is used by another file, and every file by another", () => {
    const taken = new Set(sources.flatMap((file) => file.taken));
    const isTaken = (path: string, name: string): boolean =>
      taken.has(`${path}#${name}`) || taken.has(`${path}#*`);
    const files = sources.filter(({ path }) => !STANDS_ALONE.test(path));
    const names = files.flatMap(({ path, exports }) =>
      exports.filter((name) => !isTaken(path, name)).map((name) => `${path}: ${name}`),
    );
    expect(names).toEqual([]);
    const imported = new Set(sources.flatMap(({ allImports }) => allImports));
    // Children, workers and preloads are named by their path.
    const texts = ["package.json", "bunfig.toml"].map((path) => readFileSync(join(ROOT, path), "utf8"));
    const named = [...sources.map(({ text }) => text), ...texts];
    const isStarted = (path: string): boolean =>
      named.some((text) => new RegExp(`["/ ]${path.split("/").pop()}["\\s]`).test(text));
    const alone = files.map(({ path }) => path).filter((path) => !imported.has(path) && !isStarted(path));
    expect(alone).toEqual([]);
  });

  test("nobody imports a program's entry point", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports.filter((target) => target.endsWith("/main.ts")).map((target) => `${path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("there is no import cycle, and in src none of types either", () => {
    expect(findCycle(new Map(sources.map(({ path, imports }) => [path, imports])))).toEqual([]);
    const server = sources.filter(({ path }) => topFolder(path) === "src");
    expect(findCycle(new Map(server.map(({ path, allImports }) => [path, allImports])))).toEqual([]);
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
    const manifest: Record<
      "dependencies" | "devDependencies" | "optionalDependencies",
      Record<string, string>
    > = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const used = new Set(sources.flatMap(({ packages }) => packages.map(packageName)));
    const mentioned = (name: string): boolean =>
      used.has(name) ||
      sources.some(({ path, text }) => path !== "test/tidy.test.ts" && text.includes(`"${name}`));
    expect(Object.keys(manifest.dependencies).filter((name) => !mentioned(name))).toEqual([]);
    const declared = Object.keys({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
    });
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

  test("have no limit of their own below that of all: what only bounds a hang is not what fails a slow machine", () => {
    const limits = linesMatching(tests, /^\s*\}, [\d_]+\);$|setDefaultTimeout\([\d_]+\)/).filter((line) => {
      const ms = Number(/([\d_]+)\);$/.exec(line)?.[1]?.replaceAll("_", ""));
      return ms >= SHORT_LIMIT_MIN_MS && ms < DEFAULT_LIMIT_MS;
    });
    expect(limits).toEqual([]);
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
