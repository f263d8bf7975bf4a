import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createTransport } from "nodemailer";
import PostalMime from "postal-mime";
import { BODY_MAX_CHARS, SUBJECT_MAX_CHARS } from "../../../src/notify/mail/limits.ts";
import { checkedMessage, type MailMessage, oneLine } from "../../../src/notify/mail/message.ts";
import { mimeOf, smtpServerOf } from "../../../src/notify/mail/smtp-transport.ts";
import {
  accountChangedMail,
  invitationMail,
  passwordResetMail,
  verificationMail,
} from "../../../src/notify/mail/templates.ts";

const FROM = "obs <obs@obs.example.com>";
const LINK = "https://obs.example.com/accept-invite#token=abc";
const EVIL = "Acme\r\nBcc: eve@example.com\r\n\r\n<script>alert(1)</script>";

/** The bytes of a message as they would go over the wire. */
async function composed(message: MailMessage): Promise<string> {
  const composer = createTransport({ streamTransport: true, buffer: true });
  const { message: bytes } = await composer.sendMail(mimeOf(checkedMessage(message), "id", FROM));
  if (!Buffer.isBuffer(bytes)) throw new Error("no bytes");
  return bytes.toString("utf8");
}

function invitation(organization: string, invitedBy = "ana@example.com"): MailMessage {
  return invitationMail("bob@example.com", { organization, invitedBy, role: "member", link: LINK });
}

describe("a mail whose names come from strangers", () => {
  test("has no headers but ours, one recipient, and no markup but ours", async () => {
    const raw = await composed(invitation(EVIL, EVIL));
    const { headers, to, cc, bcc, html = "", subject } = await PostalMime.parse(raw);
    expect(headers.map(({ key }) => key).toSorted()).toEqual([
      "auto-submitted",
      "content-type",
      "date",
      "from",
      "message-id",
      "mime-version",
      "subject",
      "to",
    ]);
    expect(to).toEqual([expect.objectContaining({ address: "bob@example.com" })]);
    expect([cc ?? [], bcc ?? []]).toEqual([[], []]);
    expect(subject).toStartWith("Join Acme Bcc: eve@example.com");
    expect(html).not.toContain("<script");
    expect(html).toContain("&lt;script&gt;");
  });

  test("is the same for any name: one recipient, our headers, the link once in each part", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 300 }), async (name) => {
        const mail = await PostalMime.parse(await composed(invitation(name)));
        expect(mail.to).toHaveLength(1);
        expect(mail.headers).toHaveLength(8);
        expect(mail.text?.split(LINK)).toHaveLength(2);
        expect(mail.html?.match(/<[a-z]/g)?.length).toBe(invitation("").html.match(/<[a-z]/g)?.length ?? 0);
      }),
      { numRuns: 200 },
    );
  });

  test("keeps letters of every script", async () => {
    const mail = await PostalMime.parse(await composed(invitation("株式会社 Ünïcødé 🦊")));
    expect(mail.subject).toBe("Join 株式会社 Ünïcødé 🦊");
    expect(mail.text).toContain("株式会社 Ünïcødé 🦊");
  });
});

describe("a message is refused", () => {
  const good = passwordResetMail("ana@example.com", LINK, 60);
  test.each([
    ["that is addressed to several people", { to: "ana@example.com, eve@example.com" }],
    ["that is addressed to a name", { to: "Ana <ana@example.com>" }],
    ["whose address writes a header", { to: "ana@example.com\r\nBcc: eve@example.com" }],
    ["whose address is not in the form of accounts", { to: "Ana@Example.com" }],
    ["whose address is none", { to: "ana" }],
    ["whose subject writes a header", { subject: "Hello\r\nBcc: eve@example.com" }],
    ["whose subject is broken by a separator", { subject: "Hello\u2028there" }],
    ["whose subject is too long", { subject: "x".repeat(SUBJECT_MAX_CHARS + 1) }],
    ["whose text is too long", { text: "x".repeat(BODY_MAX_CHARS + 1) }],
    ["with a field that is not ours", { bcc: "eve@example.com" }],
  ])("%s", (_what, change) => {
    expect(() => checkedMessage({ ...good, ...change })).toThrow();
  });
});

test("every template makes a message that may be sent, with the link in both parts", () => {
  const mails = [
    passwordResetMail("ana@example.com", LINK, 60),
    verificationMail("ana@example.com", LINK, 48),
    invitation("Acme"),
    accountChangedMail("ana@example.com", "Your password was changed", "https://obs.example.com"),
    verificationMail("björn@bücher.example", LINK, 48),
  ];
  for (const mail of mails) {
    expect(checkedMessage(mail)).toBe(mail);
    if (mail.link === null) continue;
    expect(mail.text).toContain(`\n\n${LINK}\n\n`);
    expect(mail.html).toContain(`href="${LINK}"`);
  }
});

test("a text for one line has no line breaks, no invisible characters and a bounded length", () => {
  expect(oneLine(" a\r\n\tb\u0000c\u202ed ", 20)).toBe("a b c d");
  expect(oneLine("🦊🦊🦊🦊", 3)).toBe("🦊🦊…");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 50 }), (text, max) => {
      const line = oneLine(text, max);
      expect([...line].length).toBeLessThanOrEqual(max);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
    }),
  );
});

test("an address of a mail server says how it is reached, and a password goes through TLS only", () => {
  const plain = { secure: false, requireTls: false, credentials: null };
  expect(smtpServerOf("smtp://mail.example.com")).toEqual({ host: "mail.example.com", port: 587, ...plain });
  expect(smtpServerOf("smtp://[::1]:2525")).toEqual({ host: "::1", port: 2525, ...plain });
  const credentials = { user: "obs@example.com", password: "p@ss:w/rd" };
  expect(smtpServerOf("smtp://obs%40example.com:p%40ss%3Aw%2Frd@mail.example.com:25")).toEqual({
    host: "mail.example.com",
    port: 25,
    secure: false,
    requireTls: true,
    credentials,
  });
  expect(smtpServerOf("smtps://u:p@mail.example.com")).toMatchObject({
    port: 465,
    secure: true,
    requireTls: false,
  });
  expect(smtpServerOf("smtp://u:p@127.0.0.1:25")).toMatchObject({ requireTls: false });
  expect(smtpServerOf("smtp://u:p@localhost.example.com")).toMatchObject({ requireTls: true });
});
