import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { createLogger } from "../../../src/log.ts";
import { fileTransport } from "../../../src/notify/mail/file-transport.ts";
import { FILES_MAX } from "../../../src/notify/mail/limits.ts";
import { accountChangedMail, passwordResetMail } from "../../../src/notify/mail/templates.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Clock } from "../../identity/identity-server.ts";

const LINK = "https://obs.example.com/reset-password#token=s3cret";

const temporary = temporaryDirectory();
afterAll(() => temporary[Symbol.dispose]());

function transport(name: string) {
  const clock = new Clock();
  const lines: string[] = [];
  const log = createLogger("info", { write: (line) => lines.push(line) });
  const directory = join(temporary.path, name, "outbox");
  const mails = fileTransport(directory, { from: "obs <obs@[127.0.0.1]>", log, now: clock.now });
  const never = new AbortController().signal;
  return { clock, directory, mails, never, logged: () => lines.map((line) => JSON.parse(line)) };
}

test("without a mail server the log says the link in clear text, so that nobody is stuck", async () => {
  const { mails, never, logged } = transport("log");
  await mails.send(passwordResetMail("ana@example.com", LINK, 60), "obs-1", never);
  expect(logged()).toEqual([
    expect.objectContaining({
      mail: { to: "ana@example.com", subject: "Choose a new password", link: LINK },
    }),
  ]);
  const notice = accountChangedMail(
    "ana@example.com",
    "Your password was changed",
    "https://obs.example.com",
  );
  await mails.send(notice, "obs-2", never);
  expect(logged().at(-1).mail.text).toContain("Your password was changed.");
});

test("each mail is a file that a mail program opens, for the eyes of the owner only", async () => {
  const { directory, mails, never } = transport("files");
  await mails.send(passwordResetMail("björn@bücher.example", LINK, 60), "obs-1", never);
  const [name = ""] = readdirSync(directory);
  expect(name).toBe("2026-03-01T12-00-00-000Z-obs-1.eml");
  const mail = await PostalMime.parse(readFileSync(join(directory, name)));
  expect(mail.text).toContain(LINK);
  expect(mail.html).toContain(LINK);
  expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test("the newest files are kept, and files that are not mails are left alone", async () => {
  const { clock, directory, mails, never } = transport("bounded");
  for (let i = 0; i < FILES_MAX + 5; i += 1) {
    clock.advance(1_000);
    await mails.send(passwordResetMail("ana@example.com", LINK, 60), `obs-${i}`, never);
    if (i === 0) await Bun.write(join(directory, "0-notes.txt"), "mine");
  }
  const names = readdirSync(directory).toSorted();
  expect(names).toHaveLength(FILES_MAX + 1);
  expect(names[0]).toBe("0-notes.txt");
  expect(names[1]).toEndWith("-obs-5.eml");
  expect(names.at(-1)).toEndWith(`-obs-${FILES_MAX + 4}.eml`);
});
