import { checkServerIdentity, type TLSSocket } from "node:tls";

/** Why a certificate does not show that its holder is the host that was asked for. */
export type CertificateProblem = "expired" | "not-yet-valid" | "wrong-name" | "self-signed" | "untrusted";

export interface CertificateFacts {
  /** Until when it is valid, in milliseconds since 1970; null when it does not say so in a way that can be read. */
  readonly notAfterMs: number | null;
  readonly problem: CertificateProblem | null;
}

/**
 * Judges the certificate that a server has shown. Of several problems the first counts: its time, then who vouches for it, then
 * its names, so that the same certificate is always told of in the same way.
 */
export function certificateFacts(socket: TLSSocket, host: string, nowMs: number): CertificateFacts {
  const certificate = socket.getPeerCertificate();
  const notBeforeMs = Date.parse(certificate.valid_from);
  const notAfterMs = Date.parse(certificate.valid_to);
  if (Number.isNaN(notBeforeMs) || Number.isNaN(notAfterMs))
    return { notAfterMs: null, problem: "untrusted" };
  const problem = (): CertificateProblem | null => {
    if (nowMs >= notAfterMs) return "expired";
    if (nowMs < notBeforeMs) return "not-yet-valid";
    if (!socket.authorized) return CHAIN_PROBLEMS.get(String(socket.authorizationError)) ?? "untrusted";
    return checkServerIdentity(host, certificate) === undefined ? null : "wrong-name";
  };
  return { notAfterMs, problem: problem() };
}

/** What TLS says of the chain; a certificate in its middle may be out of its time, too. */
const CHAIN_PROBLEMS: ReadonlyMap<string, CertificateProblem> = new Map([
  ["CERT_HAS_EXPIRED", "expired"],
  ["CERT_NOT_YET_VALID", "not-yet-valid"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "wrong-name"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed"],
]);
