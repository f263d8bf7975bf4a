import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "../../../clients/cli/cli-error.ts";
import { RESUME_MAX_AGE_MS } from "../../../clients/cli/limits.ts";
import { ResumeFile, type ResumeState, removeOldResumeFiles } from "../../../clients/cli/ship/resume-file.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const URL_OF_SERVER = "http://127.0.0.1:1";
const STATE: ResumeState = {
  run: "run-1",
  position: { offset: 12, lineStart: 12, part: 0, line: 2 },
  cuts: [15, 18],
  yearReferenceMs: 1_700_000_000_000,
  sinceMs: null,
  file: "/var/log/app.log",
};

interface Shipped {
  directory: string;
  path: string;
  resume: ResumeFile;
  statePath: string;
  file: FileHandle;
}

/** Runs `body` with a file of three lines, of which STATE is recorded. */
async function withRecorded(body: (shipped: Shipped) => Promise<void>): Promise<void> {
  using home = temporaryDirectory();
  const path = join(home.path, "app.log");
  writeFileSync(path, "line1\nline2\nline3\n");
  const file = await open(path, "r");
  try {
    const resume = await ResumeFile.of(home.path, { file, isCompressed: false }, URL_OF_SERVER);
    await resume.save(STATE);
    const [name = ""] = readdirSync(join(home.path, "ship"));
    await body({ directory: home.path, path, resume, statePath: join(home.path, "ship", name), file });
  } finally {
    await file.close();
  }
}

async function expectFresh({ resume }: Pick<Shipped, "resume">): Promise<void> {
  expect(await resume.load()).toBeNull();
}

describe("a resume file", () => {
  test("gives back what was saved, is private and leaves nothing beside it", async () => {
    await withRecorded(async ({ resume, statePath, directory }) => {
      expect(await resume.load()).toEqual(STATE);
      expect(statSync(statePath).mode & 0o777).toBe(0o600);
      await resume.save({ ...STATE, cuts: [] });
      expect(await resume.load()).toEqual({ ...STATE, cuts: [] });
      expect(readdirSync(join(directory, "ship")).length).toBe(1);
    });
  });

  test("still holds when the file grew", async () => {
    await withRecorded(async ({ resume, path }) => {
      appendFileSync(path, "x".repeat(10_000));
      expect(await resume.load()).toEqual(STATE);
    });
  });

  test("does not hold when the file was cut, also behind the position", async () => {
    for (const bytes of [0, 6, 17])
      await withRecorded(async (shipped) => {
        truncateSync(shipped.path, bytes);
        await expectFresh(shipped);
      });
  });

  test("does not hold when the file's beginning is another one", async () => {
    await withRecorded(async (shipped) => {
      writeFileSync(shipped.path, "other\nline2\nline3\n");
      await expectFresh(shipped);
    });
  });

  test("does not hold when only the beginning is the same", async () => {
    await withRecorded(async (shipped) => {
      const header = "#".repeat(5000);
      const state = {
        ...STATE,
        position: { offset: 8000, lineStart: 8000, part: 0, line: 1 },
        cuts: [],
      };
      writeFileSync(shipped.path, header + "a".repeat(5000));
      await shipped.resume.save(state);
      expect(await shipped.resume.load()).toEqual(state);
      writeFileSync(shipped.path, header + "b".repeat(5000));
      await expectFresh(shipped);
    });
  });

  test("is one for each server and each file, whatever its name is", async () => {
    await withRecorded(async ({ directory, path, file }) => {
      const known = { file, isCompressed: false };
      await expectFresh({ resume: await ResumeFile.of(directory, known, "http://127.0.0.1:2") });
      renameSync(path, `${path}.1`);
      writeFileSync(path, "line1\nline2\nline3\n");
      for (const [name, wanted] of [
        [path, null],
        [`${path}.1`, STATE],
      ] as const) {
        const opened = await open(name, "r");
        const resume = await ResumeFile.of(directory, { file: opened, isCompressed: false }, URL_OF_SERVER);
        expect(await resume.load()).toEqual(wanted);
        await opened.close();
      }
    });
  });

  test("of a compressed file knows it by its beginning, for positions are those of what is in it", async () => {
    await withRecorded(async ({ directory, path, file }) => {
      const resume = await ResumeFile.of(directory, { file, isCompressed: true }, URL_OF_SERVER);
      const state = { ...STATE, position: { offset: 9000, lineStart: 9000, part: 0, line: 70 } };
      await resume.save(state);
      expect(await resume.load()).toEqual(state);
      writeFileSync(path, "another beginning of the same inode");
      expect(await resume.load()).toBeNull();
    });
  });

  test("cut anywhere, or with any field of another kind, is as if there were none", async () => {
    await withRecorded(async (shipped) => {
      const text = readFileSync(shipped.statePath, "utf8");
      for (let length = 0; length < text.length; length += 7) {
        writeFileSync(shipped.statePath, text.slice(0, length));
        await expectFresh(shipped);
      }
      const stored: Record<string, unknown> = JSON.parse(text);
      for (const name of ["version", "run", "position", "cuts", "file", "identity"])
        for (const value of [null, -1, name === "cuts" ? [-1] : [], {}, true]) {
          writeFileSync(shipped.statePath, JSON.stringify({ ...stored, [name]: value }));
          await expectFresh(shipped);
        }
    });
  });

  test("with numbers that no run writes is as if there were none", async () => {
    await withRecorded(async (shipped) => {
      const stored: { identity: object } = JSON.parse(readFileSync(shipped.statePath, "utf8"));
      const damaged = [
        { ...stored, position: { ...STATE.position, offset: -5 } },
        { ...stored, position: { ...STATE.position, part: -1 } },
        { ...stored, position: { ...STATE.position, lineStart: 13 } },
        { ...stored, identity: { ...stored.identity, fingerprintBytes: -1 } },
        { ...stored, identity: { ...stored.identity, fingerprintBytes: 1.5 } },
        { ...stored, identity: { ...stored.identity, fingerprintBytes: 1e15 } },
      ];
      for (const state of damaged) {
        writeFileSync(shipped.statePath, JSON.stringify(state));
        await expectFresh(shipped);
      }
    });
  });

  test("that cannot be read is an error, not a reason to ship everything again", async () => {
    using home = temporaryDirectory();
    const path = join(home.path, "app.log");
    writeFileSync(path, "line\n");
    writeFileSync(join(home.path, "ship"), "a file where the folder should be");
    const file = await open(path, "r");
    try {
      const resume = await ResumeFile.of(home.path, { file, isCompressed: false }, URL_OF_SERVER);
      await expect(resume.load()).rejects.toThrow(CliError);
    } finally {
      await file.close();
    }
  });

  test("is removed when it has not been touched for months", async () => {
    await withRecorded(async ({ directory, statePath }) => {
      const nowMs = Date.now();
      await removeOldResumeFiles(directory, nowMs);
      expect(readdirSync(join(directory, "ship")).length).toBe(1);
      const oldSec = (nowMs - RESUME_MAX_AGE_MS - 60_000) / 1000;
      utimesSync(statePath, oldSec, oldSec);
      await removeOldResumeFiles(directory, nowMs);
      expect(readdirSync(join(directory, "ship"))).toEqual([]);
    });
  });
});
