import { CheckFailure, certificateFailure } from "../check-failure.ts";
import type { Check } from "./check-tools.ts";
import { hostAndPort } from "./host-and-port.ts";

const HTTPS_PORT = 443;
const DAY_MS = 86_400_000;

/** The certificate shows that the host is who it says, and goes on doing so for the days that were set. */
export const checkCertificate: Check = async (spec, { connector, findings, scope }) => {
  const { host, port } = hostAndPort(spec, HTTPS_PORT);
  const { socket, dnsMs, connectMs } = await connector.dial(host, port, scope);
  findings.connected(dnsMs, connectMs);
  const { tlsMs, certificate } = await connector.secure(socket, host, scope);
  findings.secured(tlsMs, certificate);
  if (certificate.problem !== null) throw certificateFailure(certificate.problem);
  const remainingMs = (certificate.notAfterMs ?? 0) - Date.now();
  if (remainingMs < spec.expiryWarnDays * DAY_MS)
    throw new CheckFailure("certificate_expires_soon", { status: "degraded" });
};
