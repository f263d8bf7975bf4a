import type { MailMessage } from "./message.ts";

/** How mails leave the server. */
export interface MailTransport {
  /** `log` where mails go to the log and to files because no mail server is configured. */
  readonly kind: "smtp" | "log";
  /**
   * Sends one mail; `id` is the same when the same mail is sent again. Throws RecipientRefused when trying again cannot
   * help, and any other error when it can. Gives up when the signal says so.
   */
  send(message: MailMessage, id: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The receiving server will not take this mail for this recipient, today or tomorrow. */
export class RecipientRefused extends Error {
  constructor(cause: unknown) {
    super("the mail server refuses the recipient or the message", { cause });
    this.name = "RecipientRefused";
  }
}
