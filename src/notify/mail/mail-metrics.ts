import { Counter, Gauge, type Registry } from "prom-client";

export interface MailMetrics {
  readonly mails: Counter<"outcome">;
  readonly waiting: Gauge;
  /** Age of the oldest mail that waits. */
  readonly oldestAgeSec: Gauge;
}

export function mailMetrics(registry: Registry): MailMetrics {
  const registers = [registry];
  return {
    mails: new Counter({
      name: "obs_mails_total",
      help: "Attempts to send a mail, by outcome (sent, failed and tried again, given_up, expired).",
      labelNames: ["outcome"],
      registers,
    }),
    waiting: new Gauge({ name: "obs_mails_waiting", help: "Mails that wait to be sent.", registers }),
    oldestAgeSec: new Gauge({
      name: "obs_mail_oldest_age_seconds",
      help: "Age of the oldest mail that waits to be sent.",
      registers,
    }),
  };
}
