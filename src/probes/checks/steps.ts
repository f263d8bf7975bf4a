import { withinDeadline } from "../../outbound/outbound-scope.ts";
import type { Assertion, Extraction, Step } from "../check.ts";
import { CheckFailure } from "../check-failure.ts";
import { EXTRACTED_MAX_CHARS } from "../limits.ts";
import { headerOf, holds, type StepAnswer, textOf } from "../steps/assertions.ts";
import { valueAt } from "../steps/dotted-path.ts";
import { render } from "../steps/template.ts";
import { bodyText } from "./body-text.ts";
import type { Check, CheckTools } from "./check-tools.ts";
import { isExpectedStatus, isRedirectStatus, webRequest } from "./web-request.ts";

interface StepSettings {
  readonly followRedirects: boolean;
  readonly tlsSkipVerify: boolean;
}

/** Requests one after the other, each of which may use what those before it have found. */
export const checkSteps: Check = async (spec, tools) => {
  const variables = new Map<string, string>();
  for (const [index, step] of spec.steps.entries()) {
    tools.findings.failedStep = index;
    // Each has the time of the monitor, of what is left for all of them.
    const timeoutMs = Math.min(spec.timeoutMs, tools.scope.remainingMs);
    const answer = await withinDeadline(timeoutMs, async (scope) => {
      tools.scope.hold({ destroy: () => scope.end() });
      return takeStep(step, spec, variables, { ...tools, scope });
    });
    for (const extraction of step.extract ?? []) variables.set(extraction.var, extracted(extraction, answer));
  }
  tools.findings.failedStep = null;
};

async function takeStep(
  step: Step,
  { followRedirects, tlsSkipVerify }: StepSettings,
  variables: ReadonlyMap<string, string>,
  { connector, findings, scope }: CheckTools,
): Promise<StepAnswer> {
  const headers = Object.entries(step.headers ?? {}).map(([name, value]) => [name, render(value, variables)]);
  const request = {
    type: "multi_step",
    url: render(step.url, variables),
    message: {
      method: step.method,
      headers: Object.fromEntries(headers),
      body: step.body === undefined ? undefined : render(step.body, variables),
    },
    followRedirects: followRedirects && !expectsRedirect(step),
    skipsVerification: tlsSkipVerify,
  };
  const startedAt = performance.now();
  const answer = await webRequest(connector, request, findings, scope);
  const responseTimeMs = performance.now() - startedAt;
  const { text, isCutOff } = await bodyText(answer, scope);
  const found = { status: answer.status, responseTimeMs, headers: answer.headers, text, json: parsed(text) };
  const judgesStatus = step.assertions?.some(({ source }) => source === "status_code") ?? false;
  if (!judgesStatus && !isExpectedStatus(null, answer.status)) throw new CheckFailure("status_code");
  for (const assertion of step.assertions ?? []) {
    if (isCutOff && !isDecided(assertion, text))
      throw new CheckFailure("body_too_large", { status: "unknown" });
    if (!holds(assertion, found)) throw new CheckFailure("assertion");
  }
  return found;
}

/** Whether the beginning of a body decides an assertion: what is found in it is in the body. */
function isDecided({ source, comparison, value }: Assertion, beginning: string): boolean {
  if (source !== "body_json" && source !== "body_text") return true;
  const asksForPart = comparison === "contains" || comparison === "not_contains";
  return source === "body_text" && asksForPart && beginning.includes(String(value));
}

/** A redirect that a step asks for is its answer. */
function expectsRedirect({ assertions = [], extract = [] }: Step): boolean {
  return (
    assertions.some(
      ({ source, comparison, value }) =>
        source === "status_code" && comparison === "eq" && isRedirectStatus(Number(value)),
    ) ||
    [...assertions, ...extract].some(
      ({ source, path }) => source === "header" && path?.toLowerCase() === "location",
    )
  );
}

/** What a variable is to be. Throws CheckFailure, `extraction`, when there is none, or one that no text can stand for. */
function extracted({ source, path }: Extraction, answer: StepAnswer): string {
  const value = source === "header" ? headerOf(answer.headers, path) : valueAt(answer.json, path);
  if (value === undefined || value === null) throw new CheckFailure("extraction");
  const text = textOf(value);
  if (text.length > EXTRACTED_MAX_CHARS) throw new CheckFailure("extraction");
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
