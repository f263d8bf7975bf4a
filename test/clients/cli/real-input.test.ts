import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliUser, obs } from "./cli-process.ts";
import { countsOf, differences, findEntries, findLines, linesOfEntries, linesOfText } from "./found-lines.ts";

const DATA = join(import.meta.dir, "../../../../shared/data");
const MESSAGE_MAX_CHARS = 8192;

let directory: TemporaryDirectory;
let server: SharedServer;
let user: CliUser;

beforeAll(async () => {
  directory = temporaryDirectory();
  server = await sharedServer();
  user = { directory: directory.path };
  await obs(
    user,
    ["login", "--url", server.url, "--register", "--email", "shipper@example.com", "--password-stdin"],
    "a long enough passphrase\n",
  );
});

afterAll(() => directory[Symbol.dispose]());

function realFiles(): string[] {
  const folders = [
    ...namesIn(join(DATA, "loghub")).map((name) => ({ folder: join(DATA, "loghub", name), ending: ".log" })),
    { folder: join(DATA, "security"), ending: "" },
  ];
  return folders.flatMap(({ folder, ending }) =>
    namesIn(folder)
      .filter((name) => name.endsWith(ending))
      .map((name) => join(folder, name)),
  );
}

function namesIn(folder: string): string[] {
  return existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder).sort() : [];
}

function entriesOf(summary: unknown): number {
  if (typeof summary === "object" && summary !== null && "entries" in summary) return Number(summary.entries);
  throw new Error(`no summary: ${JSON.stringify(summary)}`);
}

async function expectFoundAgain(path: string, service: string): Promise<void> {
  const summary: unknown = JSON.parse(
    await obs(user, ["ship", path, "--raw", "--json", "--service", service]),
  );
  const text = readFileSync(path, "utf8");
  const lines = linesOfText(text);
  const found = await findEntries(user, service, entriesOf(summary));
  expect(differences(countsOf(lines), countsOf(linesOfEntries(found)))).toEqual([]);
  expect(summary).toMatchObject({
    lines: lines.length,
    entries: found.length,
    bytes: statSync(path).size,
    invalidUtf8Entries: 0,
    nativeLines: 0,
  });
}

describe("every line that is shipped with --raw is found again, unchanged and as often as it was there", () => {
  const files = realFiles();
  if (files.length === 0) process.stderr.write("skipped: the collected real log files are not here\n");
  for (const path of files) {
    const name = basename(path).slice(0, 60);
    test(`in ${name}`, () => expectFoundAgain(path, name));
  }

  test("in a file with controls, other scripts, long lines, CRLF and no last line feed", async () => {
    const path = join(directory.path, "awkward.log");
    writeFileSync(path, awkwardLines().join(""));
    await expectFoundAgain(path, "awkward");
  });

  test("bytes that are not UTF-8 become U+FFFD and are counted", async () => {
    const path = join(directory.path, "latin.log");
    writeFileSync(path, Buffer.from("caf\xe9 one\n\xff\xfe\x80\nwhole\n\xed\xa0\x80 surrogate\n", "latin1"));
    const summary: unknown = JSON.parse(
      await obs(user, ["ship", path, "--raw", "--json", "--service", "latin"]),
    );
    expect(summary).toMatchObject({ lines: 4, invalidUtf8Entries: 3 });
    const lines = linesOfText(new TextDecoder().decode(readFileSync(path)));
    expect(
      differences(countsOf(lines), countsOf(linesOfEntries(await findEntries(user, "latin", 4)))),
    ).toEqual([]);
  });
});

test("standard input is shipped like a file, and an entry on a line keeps its digits", async () => {
  const input = [
    "plain text\r\n",
    '{"message":"an entry","attrs":{"n":12345678901234567890,"f":1.0,"s":"x"},"level":"warn"}\n',
    '{"message":"of another logger","unknown":1}\n',
    "no line feed at the end",
  ].join("");
  const summary: unknown = JSON.parse(await obs(user, ["ship", "-", "--json", "--service", "piped"], input));
  expect(summary).toMatchObject({ lines: 4, entries: 4, nativeLines: 1 });
  const lines = await findLines(user, "piped", 4);
  const messages = lines.map((line): unknown => JSON.parse(line).message);
  expect(messages.toSorted()).toEqual([
    "an entry",
    "no line feed at the end",
    "of another logger",
    "plain text",
  ]);
  const output = lines.join("\n");
  expect(output).toContain('"n":12345678901234567890');
  expect(output).toContain('"f":1.0');
});

function awkwardLines(): string[] {
  const emoji = "\u{1f469}\u200d\u{1f680}";
  return [
    "\ufeffa byte order mark is text\n",
    "NUL \u0000 ESC \u001b[31mred\u001b[0m BEL \u0007 DEL \u007f C1 \u009b1m\n",
    "tabs\tand\tmore\t\n",
    "a CR \r in the middle and two at the end\r\r\n",
    "crlf\r\n",
    "\r\n",
    "\n",
    "   leading and trailing blanks   \n",
    "same\nsame\nsame\n",
    "quotes \" ' ` and \\ backslashes \\n \\u0000 %s {} $1\n",
    `日本語のログ Привет שלום مرحبا ${emoji} \u{10ffff} \ufffd \u2028 \u2029 e\u0301 \u00e9\n`,
    `${"x".repeat(MESSAGE_MAX_CHARS)}\n`,
    `${"y".repeat(MESSAGE_MAX_CHARS + 1)}\n`,
    `${"\u{1f600}".repeat(MESSAGE_MAX_CHARS)}\n`,
    `${"a\u{1f600}é".repeat(MESSAGE_MAX_CHARS)}\r\n`,
    `${Array.from({ length: 120_000 }, (_, index) => `${index};`).join("")}\n`,
    `${"\u0000\u001b".repeat(MESSAGE_MAX_CHARS)}\n`,
    '{"an":"object","that":["is","no"],"entry":1}\n',
    "[1,2,3]\nnull\n0\n",
    "the last line has a CR and no line feed\r",
  ];
}
