import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { normaliseEmail } from "../../access/email-address.ts";
import { BODY_MAX_CHARS, SUBJECT_MAX_CHARS } from "./limits.ts";

/** A header is one line: whoever puts a line break into one writes headers of their own. */
const ONE_LINE = "^[^\\p{Cc}\\u2028\\u2029]+$";

const MailMessage = Type.Object(
  {
    /** One address, as accounts have it. */
    to: Type.String(),
    subject: Type.String({ maxLength: SUBJECT_MAX_CHARS, pattern: ONE_LINE }),
    text: Type.String({ maxLength: BODY_MAX_CHARS }),
    html: Type.String({ maxLength: BODY_MAX_CHARS }),
    /** What the mail wants its reader to open; the log of a server without mail shows it. */
    link: Type.Union([Type.String(), Type.Null()]),
    /** What several mails have in common that are about one thing, so that mail programs show them together. */
    thread: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_]{1,64}$" })),
    /** Where one request ends such mails (RFC 8058); mails that nobody subscribed to have none. */
    unsubscribe: Type.Optional(Type.String({ pattern: "^https?://[!-;=?-~]+$" })),
  },
  { additionalProperties: false },
);

/** A mail as the templates make it. */
export type MailMessage = Static<typeof MailMessage>;

/** A message that may be sent. Throws an Error for one that would write headers or go to several people: the maker is at fault. */
export function checkedMessage(value: unknown): MailMessage {
  if (!Value.Check(MailMessage, value)) throw new Error("a mail has a subject or body that cannot be sent");
  // The form in which accounts keep addresses has no quotes, blanks, commas or brackets, so it is exactly one address.
  if (normaliseEmail(value.to) !== value.to)
    throw new Error("a mail is not addressed to one normalised address");
  return value;
}

/** A text fit for a header line and for one line of a text: control characters become blanks, and the end is cut. */
export function oneLine(text: string, maxChars: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, " ")
    .trim();
  const chars = [...line];
  return chars.length <= maxChars ? line : `${chars.slice(0, maxChars - 1).join("")}…`;
}
