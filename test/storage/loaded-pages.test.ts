/** Memory that only the loading of a library took. */

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { unchangedMappings } from "../../src/storage/embedded/loaded-pages.ts";
import { currentPlatform, locateClickHouseLibrary } from "../../src/storage/embedded/platform.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const SMAPS = `7f0000000000-7f0000001000 r--p 00000000 fe:00 7                          /lib/a b.so
Rss:                   4 kB
Anonymous:             0 kB
7f0000001000-7f0000003000 r-xp 00001000 fe:00 7                          /lib/a b.so
Rss:                   8 kB
Anonymous:             0 kB
7f0000003000-7f0000004000 r--p 00003000 fe:00 7                          /lib/a b.so
Rss:                   4 kB
Anonymous:             4 kB
7f0000004000-7f0000005000 rw-p 00004000 fe:00 7                          /lib/a b.so
Anonymous:             0 kB
7f0000005000-7f0000006000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000006000-7f0000007000 r--p 00000000 fe:00 8                          /lib/other.so
Anonymous:             0 kB
`;

test("what was written to, may be written to or is of another file stays mapped", () => {
  expect(unchangedMappings(SMAPS, "/lib/a b.so")).toEqual([
    { start: 0x7f0000000000n, end: 0x7f0000001000n },
    { start: 0x7f0000001000n, end: 0x7f0000003000n },
  ]);
  expect(unchangedMappings("", "/lib/a b.so")).toEqual([]);
});

test.skipIf(process.platform !== "linux")(
  "of ClickHouse's library next to nothing is resident once it is loaded, and it works all the same",
  async () => {
    using directory = temporaryDirectory();
    const answerPath = join(directory.path, "answer");
    const child = Bun.spawn(
      [
        process.execPath,
        join(import.meta.dir, "fixtures/load-library.ts"),
        locateClickHouseLibrary(currentPlatform()),
        answerPath,
      ],
      { stdout: "pipe", stderr: "inherit" },
    );
    const output = await new Response(child.stdout).text();
    const { before, after }: { before: number; after: number } = JSON.parse(output);
    expect(before).toBeGreaterThan(30_000);
    expect(after).toBeLessThan(before / 20);
    expect(await child.exited).toBe(0);
    expect(readFileSync(answerPath, "utf8")).toBe("45\n");
  },
);

test.skipIf(process.platform !== "linux")(
  "of a process that has worked and rests next to nothing of the library stays resident",
  async () => {
    const program = join(import.meta.dir, "fixtures/rest-with-library.ts");
    const child = Bun.spawn([process.execPath, program, locateClickHouseLibrary(currentPlatform())], {
      stdout: "pipe",
      stderr: "inherit",
    });
    expect(Number(await new Response(child.stdout).text())).toBeGreaterThan(30_000);
    expect(await child.exited).toBe(0);
  },
);
