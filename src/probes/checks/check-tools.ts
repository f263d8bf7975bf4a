import type { Connector } from "../../outbound/connector.ts";
import type { OutboundScope } from "../../outbound/outbound-scope.ts";
import type { Browser } from "../browser/browser.ts";
import type { CheckSpec } from "../check.ts";
import type { Findings } from "../findings.ts";

/** What a check works with. */
export interface CheckTools {
  readonly connector: Connector;
  readonly browser: Browser;
  readonly findings: Findings;
  readonly scope: OutboundScope;
}

/** Looks at what a monitor watches; returns when it is up. Throws CheckFailure and OutboundError. */
export type Check = (spec: CheckSpec, tools: CheckTools) => Promise<void>;
