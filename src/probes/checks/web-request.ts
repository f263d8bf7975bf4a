import type { Connector } from "../../outbound/connector.ts";
import { type Answer, exchange, type OutboundMessage } from "../../outbound/exchange.ts";
import { follow } from "../../outbound/follow.ts";
import type { OutboundScope } from "../../outbound/outbound-scope.ts";
import { CheckFailure } from "../check-failure.ts";
import type { Findings } from "../findings.ts";
import { CHECK_BODY_MAX_BYTES, CHECK_REDIRECTS_MAX } from "../limits.ts";
import { webAddressOf } from "../targets/web-target.ts";

interface WebRequest {
  readonly type: string;
  readonly url: string;
  readonly message: OutboundMessage;
  readonly followRedirects: boolean;
  readonly skipsVerification: boolean;
}

/** Some servers turn away who does not say what it is. */
const OWN_HEADERS: Readonly<Record<string, string>> = { "user-agent": "obs", accept: "*/*" };

/**
 * Sends the request of a monitor or of a step and answers what came back in the end. Another origin gets none of the headers that
 * were set for the first. Throws CheckFailure and OutboundError.
 */
export async function webRequest(
  connector: Connector,
  { type, url, message, followRedirects, skipsVerification }: WebRequest,
  findings: Findings,
  scope: OutboundScope,
): Promise<Answer> {
  const address = webAddressOf(type, url);
  if (address === null || Object.entries(message.headers).some(isNoHeader))
    throw new CheckFailure("target_invalid");
  const options = { maxRedirects: followRedirects ? CHECK_REDIRECTS_MAX : 0, staysHome: () => true };
  const answer = await follow(address, message, options, async (to, sent) => {
    const headers = { ...OWN_HEADERS, ...sent.headers };
    const found = await exchange(
      connector,
      to,
      { ...sent, headers },
      { maxBytes: CHECK_BODY_MAX_BYTES, scope, skipsVerification, progress: findings },
    );
    findings.statusCode = found.status;
    return found;
  });
  return answer;
}

/** What would end the header and begin another, or be none. */
function isNoHeader([name, value]: readonly [string, string]): boolean {
  return !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value);
}

/** Whether a status is what was asked for: any success or redirect unless one is named. */
export function isExpectedStatus(expected: number | null, status: number): boolean {
  return expected === null ? status >= 200 && status < 400 : status === expected;
}

/** A redirect that is expected is not followed. */
export function isRedirectStatus(status: number | null): boolean {
  return status !== null && status >= 300 && status < 400;
}
