import { domainToASCII } from "node:url";
import { SEND_TIMEOUT_MS } from "./limits.ts";
import type { MailMessage } from "./message.ts";
import { type MailTransport, RecipientRefused } from "./transport.ts";

/** How a mail server is reached. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`); otherwise STARTTLS where the server offers it. */
  readonly secure: boolean;
  /** Refuses to go on without STARTTLS. */
  readonly requireTls: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

const SMTP_PORT = 587;
const SMTPS_PORT = 465;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The server of an SMTP_URL. A password is only ever sent through TLS, except to the same machine: whoever sits in
 * between could otherwise hide that the server offers it.
 */
export function smtpServerOf(text: string): SmtpServer {
  const url = new URL(text);
  const secure = url.protocol === "smtps:";
  const user = decodeURIComponent(url.username);
  const credentials = user === "" ? null : { user, password: decodeURIComponent(url.password) };
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (secure ? SMTPS_PORT : SMTP_PORT) : Number(url.port),
    secure,
    requireTls: !secure && credentials !== null && !LOOPBACK.test(url.hostname),
    credentials,
  };
}

/** Sends through a mail server, a connection for each mail. The library is loaded with the first: it takes 8 MiB. */
export function smtpTransport(server: SmtpServer, from: string): MailTransport {
  let opened: ReturnType<typeof openTransporter> | undefined;
  return {
    kind: "smtp",
    send: async (message, id, signal) => {
      opened ??= openTransporter(server);
      const transporter = await opened;
      try {
        await transporter.sendMail({ ...mimeOf(message, id, from), signal });
      } catch (error) {
        throw isRefusedForGood(error) ? new RecipientRefused(error) : error;
      }
    },
    close: () => void opened?.then((transporter) => transporter.close()),
  };
}

async function openTransporter({ host, port, secure, requireTls, credentials }: SmtpServer) {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    host,
    port,
    secure,
    requireTLS: requireTls,
    connectionTimeout: SEND_TIMEOUT_MS / 2,
    greetingTimeout: SEND_TIMEOUT_MS / 2,
    socketTimeout: SEND_TIMEOUT_MS / 2,
    // No file of this machine and no address of the network may ever become part of a mail.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(credentials !== null && { auth: { user: credentials.user, pass: credentials.password } }),
  });
}

/** A message as the library takes it. The recipient is given as a structure, so that it is never parsed. */
export function mimeOf(message: MailMessage, id: string, from: string) {
  const { to, subject, text, html, thread, unsubscribe } = message;
  // Nobody ever sent the mail that they answer: what began it may not have arrived, and the rest belongs together all the same.
  const root = thread === undefined ? undefined : `<${thread}@${domainOf(from)}>`;
  return {
    from,
    to: { name: "", address: to },
    envelope: { from: addressOf(from), to },
    subject,
    text,
    html,
    messageId: `<${id}@${domainOf(from)}>`,
    ...(root !== undefined && { inReplyTo: root, references: root }),
    headers: {
      "Auto-Submitted": "auto-generated",
      ...(unsubscribe !== undefined && {
        "List-Unsubscribe": `<${unsubscribe}>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      }),
    },
  };
}

/** The address in `Name <address>` or of an address alone. */
function addressOf(from: string): string {
  return /<([^<>]+)>$/.exec(from)?.[1] ?? from;
}

function domainOf(from: string): string {
  const address = addressOf(from);
  const domain = address.slice(address.lastIndexOf("@") + 1);
  // Nothing comes of an address in brackets, which is in ASCII as it is.
  return domainToASCII(domain) || domain;
}

/** A 5xx to the recipient or the message itself; one to the greeting or the login is the operator's to mend. */
function isRefusedForGood(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error) || !("responseCode" in error)) return false;
  const { code, responseCode } = error;
  return (
    (code === "EENVELOPE" || code === "EMESSAGE") && typeof responseCode === "number" && responseCode >= 500
  );
}
