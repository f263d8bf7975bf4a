import type { CertificateFacts } from "../outbound/certificate.ts";
import type { ExchangeProgress } from "../outbound/exchange.ts";
import type { CheckPhases } from "./check.ts";

/** What a check finds on its way, so that one which fails tells how far it came. Times of several connections are added up. */
export class Findings implements ExchangeProgress {
  readonly phases: { -readonly [P in keyof CheckPhases]: number } = {
    dnsMs: 0,
    connectMs: 0,
    tlsMs: 0,
    firstByteMs: 0,
  };
  statusCode: number | null = null;
  certificateNotAfter: number | null = null;
  failedStep: number | null = null;
  /** Whether something of ours is waited for, so that the time that passes is not the target's. */
  isWaiting = false;
  beganAt = performance.now();

  /** What was waited for is there: the check begins now. */
  begin(): void {
    this.isWaiting = false;
    this.beganAt = performance.now();
  }

  connected(dnsMs: number, connectMs: number): void {
    this.phases.dnsMs += dnsMs;
    this.phases.connectMs += connectMs;
  }

  secured(tlsMs: number, certificate: CertificateFacts): void {
    this.phases.tlsMs += tlsMs;
    this.certificateNotAfter = certificate.notAfterMs;
  }

  answered(firstByteMs: number): void {
    this.phases.firstByteMs += firstByteMs;
  }
}
