import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.ts";
import { FILES_MAX } from "./limits.ts";
import { mimeOf } from "./smtp-transport.ts";
import type { MailTransport } from "./transport.ts";

/**
 * For a server without a mail server: each mail goes to the log, where whoever runs the server can read its link, and
 * to a file that any mail program opens. The newest files are kept. The library is loaded with the first mail: it takes 8 MiB.
 */
export function fileTransport(
  directory: string,
  options: { from: string; log: Logger; now: () => number },
): MailTransport {
  const { from, log, now } = options;
  let opened: ReturnType<typeof openComposer> | undefined;
  return {
    kind: "log",
    send: async (message, id, signal) => {
      const { to, subject, link, text } = message;
      log.info(
        { mail: { to, subject, ...(link === null ? { text } : { link }) } },
        "no mail server is configured (SMTP_URL), so this mail is not sent",
      );
      opened ??= openComposer();
      const composer = await opened;
      const { message: bytes } = await composer.sendMail({ ...mimeOf(message, id, from), signal });
      if (!Buffer.isBuffer(bytes)) throw new Error("the mail was not composed into bytes");
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const time = new Date(now()).toISOString().replaceAll(/[:.]/g, "-");
      await writeFile(join(directory, `${time}-${id}.eml`), bytes, { mode: 0o600 });
      await dropOldest(directory);
    },
    close: () => void opened?.then((composer) => composer.close()),
  };
}

async function openComposer() {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    streamTransport: true,
    buffer: true,
    newline: "unix",
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Names begin with the time, so their order is that of age. */
async function dropOldest(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".eml")).toSorted();
  for (const name of names.slice(0, Math.max(0, names.length - FILES_MAX)))
    await rm(join(directory, name), { force: true });
}
