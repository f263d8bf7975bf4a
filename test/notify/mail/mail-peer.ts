import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";

/** A mail as a real mail server received it. */
interface ReceivedMail {
  readonly from: string;
  readonly recipients: readonly string[];
  /** As it came over the wire. */
  readonly raw: string;
  readonly mail: Email;
}

export interface MailPeer {
  readonly url: string;
  readonly received: ReceivedMail[];
  /** Attempts at logging in. */
  readonly logins: () => number;
  close(): Promise<void>;
}

/** What the server says instead of accepting; the first number is its reply code. */
export interface MailPeerBehaviour {
  /** Judges a recipient: null accepts. */
  readonly refuseRecipient?: (address: string) => { code: number; message: string } | null;
  /** Judges the message: null accepts. Called once the message was read. */
  readonly refuseMessage?: () => { code: number; message: string } | null;
  readonly credentials?: { user: string; password: string };
  /** TLS from the first byte, with a certificate that nobody vouches for. */
  readonly secure?: boolean;
}

/** A real mail server on this machine. */
export async function openMailPeer(behaviour: MailPeerBehaviour = {}): Promise<MailPeer> {
  const received: ReceivedMail[] = [];
  let logins = 0;
  const { credentials, secure = false } = behaviour;
  const server = new SMTPServer({
    secure,
    authOptional: credentials === undefined,
    disabledCommands: credentials === undefined ? ["STARTTLS", "AUTH"] : ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      logins += 1;
      const isRight = username === credentials?.user && password === credentials?.password;
      if (isRight) done(null, { user: username });
      else done(refusal({ code: 535, message: "wrong credentials" }));
    },
    onRcptTo: ({ address }, _session, done) => {
      const refused = behaviour.refuseRecipient?.(address) ?? null;
      if (refused === null) done();
      else done(refusal(refused));
    },
    onData: (stream, session, done) => {
      const chunks: Uint8Array[] = [];
      stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      stream.on("end", async () => {
        const refused = behaviour.refuseMessage?.() ?? null;
        if (refused !== null) {
          done(refusal(refused));
          return;
        }
        const raw = Buffer.concat(chunks).toString("utf8");
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? "" : mailFrom.address,
          recipients: rcptTo.map(({ address }) => address),
          raw,
          mail: await PostalMime.parse(raw),
        });
        done();
      });
    },
  });
  server.on("error", () => undefined);
  const port = await new Promise<number>((resolve) => {
    const listener = server.listen(0, "127.0.0.1", () => {
      const address = listener.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  const login = credentials === undefined ? "" : `${credentials.user}:${credentials.password}@`;
  return {
    url: `${secure ? "smtps" : "smtp"}://${login}127.0.0.1:${port}`,
    received,
    logins: () => logins,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function refusal({ code, message }: { code: number; message: string }): Error {
  return Object.assign(new Error(message), { responseCode: code });
}
