import { CheckFailure } from "../check-failure.ts";
import { bodyText, judgeKeyword } from "./body-text.ts";
import type { Check } from "./check-tools.ts";
import { isExpectedStatus, isRedirectStatus, webRequest } from "./web-request.ts";

/** A server answers with the status that is expected, and the whole of its answer within the time. */
export const checkWeb: Check = async (spec, { connector, findings, scope }) => {
  const request = {
    type: spec.type,
    url: spec.url,
    message: {
      method: spec.method ?? "GET",
      headers: spec.headers,
      body: spec.body ?? undefined,
    },
    followRedirects: spec.followRedirects && !isRedirectStatus(spec.expectedStatusCode),
    skipsVerification: spec.tlsSkipVerify,
  };
  const answer = await webRequest(connector, request, findings, scope);
  if (!isExpectedStatus(spec.expectedStatusCode, answer.status)) throw new CheckFailure("status_code");
  if (spec.type === "keyword" && spec.keyword !== null)
    judgeKeyword(await bodyText(answer, scope), spec.keyword, spec.keywordMatchType);
};
