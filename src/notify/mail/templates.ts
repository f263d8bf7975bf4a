import type { Notification } from "../channels/notification.ts";
import { SUBJECT_MAX_CHARS } from "./limits.ts";
import { type MailMessage, oneLine } from "./message.ts";

/** What a mail says, before it is laid out. Texts may hold anything: they are escaped here and nowhere else. */
interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Made by the server from PUBLIC_URL. */
  readonly button: { readonly label: string; readonly link: string } | null;
  /** What to do when it was not the reader. */
  readonly closing: string;
}

/** Characters of a name in a sentence. */
const NAME_MAX_CHARS = 80;

export function passwordResetMail(to: string, link: string, lifeMinutes: number): MailMessage {
  return laidOut({
    to,
    subject: "Choose a new password",
    paragraphs: [
      "Somebody, probably you, asked for a new password for the account with this address.",
      `The link works once, within ${lifeMinutes} minutes.`,
    ],
    button: { label: "Choose a new password", link },
    closing: "If it was not you, there is nothing to do: your password stays as it is.",
  });
}

export function verificationMail(to: string, link: string, lifeHours: number): MailMessage {
  return laidOut({
    to,
    subject: "Confirm your email address",
    paragraphs: [
      "An account was made with this address. Please confirm that it is yours.",
      `The link works for ${lifeHours} hours.`,
    ],
    button: { label: "Confirm the address", link },
    closing: "If you made no account, ignore this mail.",
  });
}

export function invitationMail(
  to: string,
  {
    organization,
    invitedBy,
    role,
    link,
  }: { organization: string; invitedBy: string; role: string; link: string },
): MailMessage {
  const name = oneLine(organization, NAME_MAX_CHARS);
  return laidOut({
    to,
    subject: `Join ${name}`,
    paragraphs: [`${oneLine(invitedBy, NAME_MAX_CHARS)} invites you to join ${name} as ${role}.`],
    button: { label: "Accept the invitation", link },
    closing: "If you do not know who this is, ignore this mail.",
  });
}

/** Tells a person about a change to their account, so that one they did not make does not go unseen. */
export function accountChangedMail(to: string, what: string, publicUrl: string): MailMessage {
  return laidOut({
    to,
    subject: what,
    paragraphs: [`${what}. This concerns your account at ${publicUrl}.`],
    button: null,
    closing: "If it was not you, choose a new password at once and tell an owner of your organisation.",
  });
}

/** Tells an owner that nothing is checked any more until the month is over. */
export function checksUsedUpMail(
  to: string,
  { organization, limit, publicUrl }: { organization: string; limit: number; publicUrl: string },
): MailMessage {
  const name = oneLine(organization, NAME_MAX_CHARS);
  return laidOut({
    to,
    subject: `The checks of ${name} are used up`,
    paragraphs: [
      `The plan allows ${limit} checks a month (UTC), and the monitors of ${name} at ${publicUrl} have made them.`,
      "Until the month is over nothing is checked, and nobody is told of what fails. Heartbeats go on.",
    ],
    button: null,
    closing: "Longer intervals and fewer monitors need fewer checks.",
  });
}

/** Tells somebody of an incident; `thread` is the same for all that they are told of it. */
export function notificationMail(
  to: string,
  { title, lines, link, acknowledgeLink }: Pick<Notification, "title" | "lines" | "link" | "acknowledgeLink">,
  thread: string | null,
): MailMessage {
  const button =
    acknowledgeLink !== null
      ? { label: "Acknowledge", link: acknowledgeLink }
      : link !== null
        ? { label: "Open", link }
        : null;
  const mail = laidOut({
    to,
    subject: title,
    paragraphs: [title, ...lines, ...(acknowledgeLink !== null && link !== null ? [link] : [])],
    button,
    closing: "You get this because this address is to be told; it is set where the alert is.",
  });
  return thread === null ? mail : { ...mail, thread };
}

/** Tells whoever subscribed to something; the words are those of what they subscribed to. */
export function subscriptionMail({
  unsubscribe,
  ...letter
}: Letter & { readonly unsubscribe: string | null }): MailMessage {
  const mail = laidOut(letter);
  return unsubscribe === null ? mail : { ...mail, unsubscribe };
}

function laidOut({ to, subject, paragraphs, button, closing }: Letter): MailMessage {
  const link = button?.link ?? null;
  const text = [...paragraphs, ...(link === null ? [] : [link]), closing].join("\n\n");
  const action =
    button === null
      ? ""
      : `<p><a href="${Bun.escapeHTML(button.link)}" style="display:inline-block;padding:10px 16px;` +
        `background:#1f4fd8;color:#ffffff;text-decoration:none;border-radius:4px">` +
        `${Bun.escapeHTML(button.label)}</a></p>\n<p>${Bun.escapeHTML(button.link)}</p>\n`;
  const html =
    `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>${Bun.escapeHTML(subject)}</title></head>\n` +
    `<body style="font-family:sans-serif;color:#1c1c1c">\n` +
    paragraphs.map((paragraph) => `<p>${Bun.escapeHTML(paragraph)}</p>\n`).join("") +
    `${action}<p style="color:#666666">${Bun.escapeHTML(closing)}</p>\n</body>\n</html>\n`;
  return { to, subject: oneLine(subject, SUBJECT_MAX_CHARS), text: `${text}\n`, html, link };
}
