/** What the command line says of the archive: its files, what of it an answer was made of, and what is missing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliUser, runCli } from "./cli-process.ts";

const UNITS = [3, 2, 1].map((id) => ({
  id,
  day: `2026-10-0${id}`,
  state: id === 3 ? "moving" : "archived",
  entries: 1000 * id,
  bytes: 2048 * id,
  from: `2026-10-0${id}T00:00:00.000Z`,
  to: `2026-10-0${id}T23:59:59.000Z`,
  file: `1/2026-10-0${id}/${id}-\u001b[2J.parquet`,
  archivedAt: id === 3 ? null : "2026-11-10T00:00:00.000Z",
}));
const ABOUT = {
  partial: true,
  warnings: [
    { code: "ARCHIVE_UNREADABLE", day: "2026-10-02", message: "Entries of 2026-10-02 are missing.\u001b[2J" },
  ],
  stats: { rowsRead: 10, bytesRead: 100, elapsedMs: 1, archive: { files: 2, rows: 3000, bytes: 6144 } },
};
const ANSWERS: Readonly<Record<string, object>> = {
  "/api/v1/logs/search": {
    entries: [{ message: "m" }],
    nextCursor: null,
    total: 1,
    totalIsExact: true,
    ...ABOUT,
  },
  "/api/v1/logs/query": { columns: [{ name: "n", type: "long" }], rows: [[1]], truncated: false, ...ABOUT },
  "/api/v1/logs/patterns": {
    patterns: [],
    vanished: [],
    other: { patterns: 0, count: 0 },
    total: 0,
    sampled: false,
    ...ABOUT,
  },
};

let directory: TemporaryDirectory;
let server: Bun.Server<undefined>;
let user: CliUser;

beforeAll(() => {
  directory = temporaryDirectory();
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      const { pathname, searchParams } = new URL(url);
      const answer = ANSWERS[pathname];
      if (answer !== undefined) return Response.json(answer);
      const isFirst = searchParams.get("cursor") === null;
      return Response.json({
        items: isFirst ? UNITS.slice(0, 2) : UNITS.slice(2),
        nextCursor: isFirst ? "c" : null,
      });
    },
  });
  const env = { OBS_URL: server.url.origin, OBS_TOKEN: `obs_${"a".repeat(43)}` };
  user = { directory: directory.path, env };
});

afterAll(async () => {
  await server.stop(true);
  directory[Symbol.dispose]();
});

test("obs archive list shows every file of every page, and what they are together", async () => {
  const { exitCode, stdout, stderr } = await runCli(user, ["archive", "list"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "3 files, 6,000 entries, 12.0 KiB\n" });
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(4);
  expect(lines[1]).toMatch(/^2026-10-03 +moving +3,000 +6\.0 KiB .*\\x1b\[2J\.parquet$/);
});

test("--limit ends the list and says that there are more; --json is a unit a line", async () => {
  const { stdout, stderr } = await runCli(user, ["archive", "list", "--limit", "1", "--json"]);
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(UNITS.slice(0, 1));
  expect(stderr).toBe("1 file, 3,000 entries, 6.0 KiB; there are more (--limit N shows them)\n");
});

test("obs archive restore says what of a time is archived and how it is read, on every page, and puts nothing back", async () => {
  const range = ["--from", "2026-10-02", "--to", "2026-10-02T12:00:00Z"];
  const { exitCode, stdout, stderr } = await runCli(user, ["archive", "restore", ...range]);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("nothing has to be put back");
  expect(stderr).toContain("1 file of 2,000 entries, 4.0 KiB");
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(2);
  for (const line of lines)
    expect(line).toEndWith(" --from 2026-10-02T00:00:00.000Z --to 2026-10-02T12:00:00Z");
  const oldest = await runCli(user, ["archive", "restore", "--to", "2026-10-01T12:00:00Z", "--json"]);
  expect(JSON.parse(oldest.stdout)).toEqual(UNITS[2]);
  const none = await runCli(user, ["archive", "restore", "--from", "2027-01-01"]);
  expect(none).toMatchObject({
    exitCode: 0,
    stdout: "",
    stderr: "nothing from 2027-01-01T00:00:00.000Z until now is archived\n",
  });
});

test.each(["search", "query logs", "patterns"])(
  "obs %s says what of the archive was looked into and what is missing",
  async (command) => {
    const { exitCode, stderr } = await runCli(user, command.split(" "));
    expect(exitCode).toBe(0);
    expect(stderr).toContain(", 2 archived files of 3,000 entries\n");
    expect(stderr).toContain("obs: Entries of 2026-10-02 are missing.\\x1b[2J\n");
  },
);
