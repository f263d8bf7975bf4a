import type { Response } from "playwright-core";
import type { CheckError, CheckSpec } from "../check.ts";
import { CheckFailure } from "../check-failure.ts";
import type { Findings } from "../findings.ts";
import { CHECK_BODY_MAX_BYTES } from "../limits.ts";
import { webAddressOf } from "../targets/web-target.ts";
import { judgeKeyword } from "./body-text.ts";
import type { Check } from "./check-tools.ts";
import { isExpectedStatus } from "./web-request.ts";

/** What a person would read of a page, as far as a body is read and one character more. */
const READ_TEXT = `(document.body?.innerText ?? "").slice(0, ${CHECK_BODY_MAX_BYTES + 1})`;

/** A page loads in Chromium, with the status that is expected and, where one is set, the keyword in its text. */
export const checkBrowser: Check = async (spec, { browser, connector, findings, scope }) => {
  const address = webAddressOf(spec.type, spec.url);
  if (address === null) throw new CheckFailure("target_invalid");
  const { hostname } = new URL(address);
  await connector.addressesOf(hostname);
  findings.isWaiting = true;
  await browser.withPage({ tlsSkipVerify: spec.tlsSkipVerify, scope }, async ({ page, proxy, isAlive }) => {
    findings.begin();
    let failedAt = new URL(address);
    // After redirects it is another address that fails.
    page.on("requestfailed", (request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame())
        failedAt = URL.parse(request.url()) ?? failedAt;
    });
    try {
      const response = await page.goto(address, { waitUntil: "load", timeout: spec.timeoutMs });
      if (response !== null) await note(response, findings);
      judgeStatus(spec, findings.statusCode);
      if (spec.keyword !== null) {
        const text = String(await page.evaluate(READ_TEXT));
        judgeKeyword(textOfPage(text), spec.keyword, spec.keywordMatchType);
      }
    } catch (error) {
      if (error instanceof CheckFailure) throw error;
      if (!isAlive()) throw new CheckFailure("not_available", { status: "unknown", cause: error });
      throw pageFailure(error, CheckFailure.from(proxy.failureOf(failedAt)));
    }
  });
};

function judgeStatus(spec: CheckSpec, statusCode: number | null): void {
  if (!isExpectedStatus(spec.expectedStatusCode, statusCode ?? 0)) throw new CheckFailure("status_code");
}

function textOfPage(text: string): { text: string; isCutOff: boolean } {
  return { text: text.slice(0, CHECK_BODY_MAX_BYTES), isCutOff: text.length > CHECK_BODY_MAX_BYTES };
}

async function note(response: Response, findings: Findings): Promise<void> {
  findings.statusCode = response.status();
  const { requestStart, responseStart } = response.request().timing();
  findings.answered(Math.max(0, responseStart - Math.max(0, requestStart)));
  const validTo = (await response.securityDetails())?.validTo;
  if (validTo !== undefined) findings.certificateNotAfter = validTo * 1000;
}

/** What Chromium says, which has a code in it; of a connection that was not made the proxy knows more. */
function pageFailure(error: unknown, connection: CheckFailure | null): CheckFailure {
  if (!(error instanceof Error)) return new CheckFailure("page_failed", { cause: error });
  if (error.name === "TimeoutError") return new CheckFailure("timeout", { cause: error });
  const code = /net::ERR_([A-Z0-9_]+)/.exec(error.message)?.[1] ?? "";
  if (code.startsWith("SOCKS_") && connection !== null) return connection;
  const known = PAGE_ERRORS.get(code) ?? (code.startsWith("SSL_") ? "tls_failed" : "page_failed");
  return new CheckFailure(known, { cause: error });
}

const PAGE_ERRORS: ReadonlyMap<string, CheckError> = new Map([
  ["CERT_DATE_INVALID", "certificate_expired"],
  ["CERT_COMMON_NAME_INVALID", "certificate_wrong_name"],
  ["CERT_AUTHORITY_INVALID", "certificate_untrusted"],
  ["CONNECTION_RESET", "connection_reset"],
  ["CONNECTION_CLOSED", "connection_reset"],
  ["EMPTY_RESPONSE", "connection_reset"],
  ["INVALID_HTTP_RESPONSE", "bad_response"],
  ["TOO_MANY_REDIRECTS", "too_many_redirects"],
]);
