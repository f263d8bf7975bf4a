import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { certificateFacts } from "../../outbound/certificate.ts";
import type { OutboundScope } from "../../outbound/outbound-scope.ts";
import { CheckFailure, certificateFailure } from "../check-failure.ts";
import type { Check } from "./check-tools.ts";
import { hostAndPort } from "./host-and-port.ts";

const SMTP_PORT = 25;
const SMTPS_PORT = 465;
const RESPONSE_MAX_BYTES = 65_536;

/** A mail server greets and takes EHLO, over TLS where it offers that, with a certificate that shows who it is. Nothing is sent. */
export const checkSmtp: Check = async (spec, { connector, findings, scope }) => {
  // Loaded with the first such check, most servers having none, and before there is a socket that somebody must listen to.
  const { default: Connection } = await import("nodemailer/lib/smtp-connection");
  const target = hostAndPort(spec, usualPort(spec.url));
  const { host, port } = target;
  const plain = await connector.dial(host, port, scope);
  findings.connected(plain.dnsMs, plain.connectMs);
  const isSecure = target.scheme === "smtps" || port === SMTPS_PORT;
  let socket: Socket = plain.socket;
  if (isSecure) {
    const secured = await connector.secure(socket, host, scope);
    findings.secured(secured.tlsMs, secured.certificate);
    if (secured.certificate.problem !== null && !spec.tlsSkipVerify)
      throw certificateFailure(secured.certificate.problem);
    socket = secured.socket;
  }
  const beganAt = performance.now();
  const session = new Connection({
    connection: socket,
    secure: isSecure,
    secured: isSecure,
    host,
    port,
    maxResponseSize: RESPONSE_MAX_BYTES,
    socketCloseTimeout: 0,
    // The deadline of the check is the only one.
    greetingTimeout: spec.timeoutMs,
    connectionTimeout: spec.timeoutMs,
    socketTimeout: spec.timeoutMs,
    tls: connector.tlsOptions(host),
  });
  await introduced(session, scope);
  findings.answered(performance.now() - beganAt);
  if (!isSecure && session.secure) {
    const certificate = certificateFacts(upgradedSocket(session), host, Date.now());
    findings.secured(0, certificate);
    if (certificate.problem !== null && !spec.tlsSkipVerify) throw certificateFailure(certificate.problem);
  }
  session.quit();
};

function usualPort(url: string): number {
  return /^smtps:/i.test(url.trim()) ? SMTPS_PORT : SMTP_PORT;
}

function introduced(session: SMTPConnection, scope: OutboundScope): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays: what is closed at the end of a check may still complain.
    session.on("error", (error: unknown) => reject(smtpFailure(error)));
    scope.hold({ destroy: () => session.close() });
    session.connect((error?: unknown) => {
      if (error === undefined || error === null) resolve();
      else reject(smtpFailure(error));
    });
  });
}

/** By the code of the library; a reply of the server is a refusal whatever else it is. */
function smtpFailure(error: unknown): Error {
  if (!(error instanceof Error)) return new CheckFailure("smtp_refused", { cause: error });
  const code = "code" in error ? error.code : "";
  const isAnswered = "response" in error && error.response !== undefined && error.response !== "";
  if (isAnswered || code === "EPROTOCOL") return new CheckFailure("smtp_refused", { cause: error });
  // What the socket said, which the library has replaced by a code of its own.
  const original = "originalCode" in error ? String(error.originalCode) : "";
  if (code === "ETLS" || original.startsWith("ERR_SSL_"))
    return new CheckFailure("tls_failed", { cause: error });
  if (code === "ETIMEDOUT") return new CheckFailure("timeout", { cause: error });
  const isReset = code === "ECONNECTION" || original === "ECONNRESET" || original === "EPIPE";
  return new CheckFailure(isReset ? "connection_reset" : "unreachable", { cause: error });
}

/** The library does not show the connection over which it speaks since STARTTLS. */
function upgradedSocket(session: SMTPConnection): TLSSocket {
  const socket: unknown = Reflect.get(session, "_socket");
  if (!(socket instanceof TLSSocket)) throw new CheckFailure("tls_failed");
  return socket;
}
