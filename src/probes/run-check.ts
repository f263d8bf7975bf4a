import { Connector, type ConnectorOptions } from "../outbound/connector.ts";
import { withinDeadline } from "../outbound/outbound-scope.ts";
import type { Browser } from "./browser/browser.ts";
import { type CheckedType, type CheckOutcome, type CheckSpec, deadlineMsOf, type RunCheck } from "./check.ts";
import { CheckFailure } from "./check-failure.ts";
import { checkBrowser } from "./checks/browser.ts";
import { checkCertificate } from "./checks/certificate.ts";
import type { Check } from "./checks/check-tools.ts";
import { checkDns } from "./checks/dns.ts";
import { createPingCheck, type PingMeans, SYSTEM_PING } from "./checks/ping.ts";
import { checkSmtp } from "./checks/smtp.ts";
import { checkSteps } from "./checks/steps.ts";
import { checkTcp } from "./checks/tcp.ts";
import { checkWeb } from "./checks/web.ts";
import { Findings } from "./findings.ts";

interface RunCheckOptions extends ConnectorOptions {
  /** Whoever makes it closes it. */
  readonly browser: Browser;
  /** Told what is wrong with ourselves: why a check found nothing out, and errors that no target can cause. */
  readonly report: (error: Error) => void;
  readonly ping?: PingMeans;
}

/** Makes the one way to check a target. What a check has open is closed when it answers. */
export function createRunCheck({
  browser,
  report,
  ping = SYSTEM_PING,
  ...options
}: RunCheckOptions): RunCheck {
  const connector = new Connector(options);
  const checks: Readonly<Record<CheckedType, Check>> = {
    http: checkWeb,
    https: checkWeb,
    keyword: checkWeb,
    tcp: checkTcp,
    port: checkTcp,
    ping: createPingCheck(ping),
    ssl: checkCertificate,
    dns: checkDns,
    smtp: checkSmtp,
    multi_step: checkSteps,
    browser: checkBrowser,
  };
  return async (spec) => {
    const findings = new Findings();
    try {
      await withinDeadline(deadlineMsOf(spec), (scope) =>
        checks[spec.type](spec, { connector, browser, findings, scope }),
      );
      return outcomeOf(spec, findings, null);
    } catch (error) {
      const failure = failureOf(error, findings);
      if (failure.cause !== undefined && failure.error === "not_available") report(failure);
      return outcomeOf(spec, findings, failure);
    }
  };
}

/** What was found when `error` ended a check. Time that passed while ours was waited for says nothing of the target. */
function failureOf(error: unknown, findings: Findings): CheckFailure {
  const failure =
    CheckFailure.from(error) ?? new CheckFailure("not_available", { status: "unknown", cause: error });
  if (failure.error !== "timeout" || !findings.isWaiting) return failure;
  return new CheckFailure("not_available", { status: "unknown", cause: error });
}

function outcomeOf(spec: CheckSpec, findings: Findings, failure: CheckFailure | null): CheckOutcome {
  const durationMs =
    spec.type === "ping" && failure === null
      ? findings.phases.firstByteMs
      : performance.now() - findings.beganAt;
  const isSlow = spec.degradedResponseTimeMs !== null && durationMs > spec.degradedResponseTimeMs;
  return {
    status: failure?.status ?? (isSlow ? "degraded" : "up"),
    error: failure?.error ?? (isSlow ? "slow" : null),
    durationMs,
    phases: findings.phases,
    statusCode: findings.statusCode,
    certificateNotAfter: findings.certificateNotAfter,
    failedStep: findings.failedStep,
  };
}
