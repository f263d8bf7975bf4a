import type { Sql } from "postgres";
import type { SecretBox } from "../../access/secret-box.ts";
import { WorkLoop } from "../../concurrency/work-loop.ts";
import type { DependencyStatus } from "../../health/readiness.ts";
import { backoffMs } from "../../jobs/claims/backoff.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import {
  ATTEMPTS_MAX,
  BACKOFF,
  BATCH_MAX,
  COUNTED_MAX,
  LEASE_MS,
  POLL_MS,
  SEND_TIMEOUT_MS,
  WAITING_TOO_LONG_MS,
} from "./limits.ts";
import type { MailMetrics } from "./mail-metrics.ts";
import { openMail } from "./outbox.ts";
import {
  MAILS,
  type OutboxState,
  outboxState,
  removeExpiredMails,
  type TakenMail,
  takeDueMails,
} from "./outbox-store.ts";
import { type MailTransport, RecipientRefused } from "./transport.ts";

interface MailSenderOptions {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly transport: MailTransport;
  readonly metrics: { readonly mail: MailMetrics };
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Sends what is in the outbox. Any number of instances may: each takes mails of its own, and those of one that died
 * become due again. A mail is sent at least once, under the same Message-ID each time.
 */
export class MailSender {
  readonly #options: MailSenderOptions;
  readonly #loop: WorkLoop;
  #state: OutboxState = { waiting: 0, oldestCreatedAtMs: null };

  constructor(options: MailSenderOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      work: (signal) => this.sendDue(signal),
      pollMs: POLL_MS,
      watch: whenDue(
        options.sql,
        (sql) => sql`${this.#state.waiting > 0} OR EXISTS (SELECT 1 FROM mail_outbox)`,
      ),
      failure: "the outbox of mails could not be read",
      log: options.log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** There may be a mail to send. */
  wake(): void {
    this.#loop.wake();
  }

  /** Ends sending: a mail on its way gets up to `withinMs`; it is sent by the next sender if that is too little. */
  async stop(withinMs: number): Promise<void> {
    await this.#loop.stop(withinMs);
    this.#options.transport.close();
  }

  /** How mail is, as last seen: never `down`, for the server works without. */
  status(): Omit<DependencyStatus, "name"> {
    const { oldestCreatedAtMs } = this.#state;
    if (oldestCreatedAtMs !== null && this.#options.now() - oldestCreatedAtMs > WAITING_TOO_LONG_MS)
      return { state: "degraded", detail: "Mails wait to be sent." };
    return this.#options.transport.kind === "smtp"
      ? { state: "up" }
      : { state: "up", detail: "No mail server is configured: mails go to the log and to files." };
  }

  /** Mails waiting, and the age of the oldest in milliseconds. */
  backlog(): { waiting: number; oldestAgeMs: number } {
    const { waiting, oldestCreatedAtMs } = this.#state;
    return { waiting, oldestAgeMs: oldestCreatedAtMs === null ? 0 : this.#options.now() - oldestCreatedAtMs };
  }

  /** Sends one batch of what is due; true when there may be more. */
  async sendDue(signal: AbortSignal): Promise<boolean> {
    const { sql, log, metrics } = this.#options;
    const expired = await askPostgres(() => removeExpiredMails(sql, COUNTED_MAX));
    if (expired > 0) {
      metrics.mail.mails.inc({ outcome: "expired" }, expired);
      log.warn({ mails: expired }, "mails expired before they could be sent");
    }
    const taken = await askPostgres(() => takeDueMails(sql, { leaseMs: LEASE_MS, max: BATCH_MAX }));
    for (const mail of taken) {
      if (signal.aborted) await askPostgres(() => MAILS.giveBack(sql, mail));
      else await this.#send(mail, signal);
    }
    this.#state = await askPostgres(() => outboxState(sql, COUNTED_MAX));
    return taken.length === BATCH_MAX;
  }

  async #send(mail: TakenMail, stopped: AbortSignal): Promise<void> {
    const { sql, box, transport, metrics, log } = this.#options;
    try {
      const message = openMail(box, mail.sealed);
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
      await transport.send(message, messageIdOf(mail), signal);
    } catch (error) {
      if (stopped.aborted) await askPostgres(() => MAILS.giveBack(sql, mail));
      else await this.#putOff(mail, error);
      return;
    }
    metrics.mail.mails.inc({ outcome: "sent" });
    log.info({ mailId: mail.id, attempt: mail.attempt }, "a mail was sent");
    await askPostgres(() => MAILS.remove(sql, mail));
  }

  async #putOff(mail: TakenMail, error: unknown): Promise<void> {
    const { sql, metrics, log } = this.#options;
    const { id: mailId, attempt } = mail;
    if (error instanceof RecipientRefused || attempt >= ATTEMPTS_MAX) {
      metrics.mail.mails.inc({ outcome: "given_up" });
      log.error({ mailId, attempt, err: error }, "a mail could not be sent and is given up");
      await askPostgres(() => MAILS.remove(sql, mail));
      return;
    }
    const delayMs = backoffMs(BACKOFF, attempt);
    metrics.mail.mails.inc({ outcome: "failed" });
    log.warn({ mailId, attempt, delayMs, err: error }, "a mail could not be sent; it is tried again");
    await askPostgres(() => MAILS.postpone(sql, mail, delayMs));
  }
}

/** The same at every attempt, and no other mail's: a receiver that gets one twice can tell. */
function messageIdOf({ id, createdAtMs }: TakenMail): string {
  return `obs-${createdAtMs}-${id}`;
}
