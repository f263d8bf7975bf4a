import { join } from "node:path";
import type { Sql } from "postgres";
import type { SecretBox } from "../access/secret-box.ts";
import type { Changes } from "../changes/changes.ts";
import type { Config } from "../config/config.ts";
import type { DependencyCheck } from "../health/readiness.ts";
import { LinkIssuer } from "../identity/mailed-links/link-issuer.ts";
import type { Logger } from "../log.ts";
import { fileTransport } from "../notify/mail/file-transport.ts";
import { MailSender } from "../notify/mail/mail-sender.ts";
import { type EnqueueMail, outbox } from "../notify/mail/outbox.ts";
import { smtpServerOf, smtpTransport } from "../notify/mail/smtp-transport.ts";
import type { MailTransport } from "../notify/mail/transport.ts";
import type { Metrics } from "./metrics.ts";

/** How long a mail that is being sent may take when the server stops; cut off, it is sent again by the next start. */
const STOP_MS = 1_000;

interface ServerMailOptions {
  readonly config: Pick<Config, "smtpUrl" | "smtpFrom" | "dataDirectory">;
  readonly publicUrl: string;
  readonly sql: Sql;
  readonly changes: Changes;
  readonly box: SecretBox;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Mail of one server: what mails are put into, what mails links, and the sending. */
interface ServerMail {
  readonly enqueue: EnqueueMail;
  /** For what does not wait in the outbox. */
  readonly transport: MailTransport;
  readonly links: LinkIssuer;
  readonly checks: readonly DependencyCheck[];
  start(): void;
  stop(): Promise<void>;
}

export function openServerMail(options: ServerMailOptions): ServerMail {
  const { config, publicUrl, sql, changes, box, metrics, log } = options;
  const now = Date.now;
  const from = config.smtpFrom ?? `obs <obs@${hostOf(publicUrl)}>`;
  const transport =
    config.smtpUrl === null
      ? fileTransport(join(config.dataDirectory, "outbox"), { from, log, now })
      : smtpTransport(smtpServerOf(config.smtpUrl), from);
  const sender = new MailSender({ sql, box, transport, metrics, log, now });
  const enqueue = outbox({ box, now });
  const links = new LinkIssuer({
    sql,
    changes,
    enqueueMail: enqueue,
    onMail: () => sender.wake(),
    publicUrl,
    log,
    now,
  });
  metrics.onCollect(() => {
    const { waiting, oldestAgeMs } = sender.backlog();
    metrics.mail.waiting.set(waiting);
    metrics.mail.oldestAgeSec.set(oldestAgeMs / 1000);
  });
  return {
    enqueue,
    transport,
    links,
    checks: [{ name: "mail", check: async () => sender.status() }],
    start: () => {
      sender.start();
      links.start();
    },
    stop: async () => {
      await Promise.all([links.stop(STOP_MS), sender.stop(STOP_MS)]);
    },
  };
}

/** Where the server has an address instead of a name, it is written as mail does. */
function hostOf(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  if (hostname.startsWith("[")) return `[IPv6:${hostname.slice(1, -1)}]`;
  return /^[\d.]+$/.test(hostname) ? `[${hostname}]` : hostname;
}
