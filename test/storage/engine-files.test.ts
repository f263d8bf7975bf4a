import { expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { findFreePort } from "../../src/storage/embedded/free-port.ts";
import { openOutputFile, rotateOutputFile, tailOfFile } from "../../src/storage/embedded/output-file.ts";
import { linkLibraries, reachableProgramFiles } from "../../src/storage/embedded/postgres-files.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

test("an engine's output file is rotated by size while the engine keeps writing to it", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "log", "engine.log");
  const options = { maxBytes: 10, generations: 2 };
  const file = openOutputFile(path);
  for (const text of ["first generation\n", "second generation\n", "third generation\n", "end\n"]) {
    rotateOutputFile(path, options);
    writeSync(file, text);
  }
  rotateOutputFile(path, options);
  closeSync(file);
  expect(readFileSync(path, "utf8")).toBe("end\n");
  expect(readFileSync(`${path}.1`, "utf8")).toBe("third generation\n");
  expect(readFileSync(`${path}.2`, "utf8")).toBe("second generation\n");
  expect(readdirSync(join(directory.path, "log"))).toHaveLength(3);
});

test("the tail of an output file is what the last start wrote", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "engine.log");
  expect(tailOfFile(path, 0)).toBe("");
  writeFileSync(path, `earlier life\n${Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n")}\n`);
  expect(tailOfFile(path, 13)).toBe("line 12\nline 13\nline 14\nline 15\nline 16\nline 17\nline 18\nline 19");
  expect(tailOfFile(path, 1_000)).toContain("line 19");
});

test("a free port can be listened on and is none that something listens on", async () => {
  const taken = await findFreePort();
  const server = createServer();
  await new Promise<void>((settle) => server.listen(taken, "127.0.0.1", settle));
  const draws = [(taken - 20_000) / 10_000, 0.5];
  const port = await findFreePort(() => draws.shift() ?? Math.random());
  expect(port).not.toBe(taken);
  expect(port).toBeLessThan(32_768);
  server.close();
});

/** A package folder with program files as they come from npm: without links. */
function fakePackage(root: string): string {
  const native = join(root, "package", "native");
  mkdirSync(join(native, "lib"), { recursive: true });
  writeFileSync(join(root, "package", "package.json"), '{"version":"18.0.0"}');
  writeFileSync(join(native, "lib", "libicu.so.60.2"), "library");
  writeFileSync(
    join(native, "pg-symlinks.json"),
    JSON.stringify([{ source: "native/lib/libicu.so.60.2", target: "native/lib/libicu.so.60" }]),
  );
  return native;
}

test("the links an npm package cannot hold are made outside it, again after it has moved", () => {
  using directory = temporaryDirectory();
  const native = fakePackage(directory.path);
  const links = join(directory.path, "links");
  linkLibraries("/elsewhere/native", links);
  linkLibraries(native, links);
  expect(readlinkSync(join(links, "libicu.so.60"))).toBe(join(native, "lib", "libicu.so.60.2"));
  expect(readFileSync(join(links, "libicu.so.60"), "utf8")).toBe("library");
  expect(existsSync(join(native, "lib", "libicu.so.60"))).toBe(false);
});

test("program files below a private folder are copied to where another account reaches them", () => {
  using directory = temporaryDirectory();
  const native = fakePackage(directory.path);
  const copies = join(directory.path, "copies");
  chmodSync(directory.path, 0o755);
  expect(reachableProgramFiles(native, copies)).toBe(native);
  chmodSync(directory.path, 0o700);
  const copy = reachableProgramFiles(native, copies);
  expect(copy).toBe(join(copies, "postgres-18.0.0"));
  expect(readFileSync(join(copy, "lib", "libicu.so.60.2"), "utf8")).toBe("library");
  expect(reachableProgramFiles(native, copies)).toBe(copy);
  expect(readdirSync(copies)).toEqual(["postgres-18.0.0"]);
});
