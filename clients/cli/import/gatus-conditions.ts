/** What the conditions of an endpoint of Gatus ask, as far as a monitor can. */
interface GatusConditions {
  readonly expectedStatusCode: number | null;
  readonly degradedResponseTimeMs: number | null;
  readonly keyword: string | null;
  readonly keywordMatchType: "contains" | "not_contains";
  /** Days before the end of the certificate; null where nobody looks. */
  readonly expiryWarnDays: number | null;
  /** Of a step, where the body is looked into. */
  readonly assertions: readonly Assertion[];
  readonly notes: readonly string[];
}

interface Assertion {
  readonly source: "body_json" | "body_text" | "status_code";
  readonly path?: string;
  readonly comparison: string;
  readonly value?: string | number;
}

const CONDITION = /^(?<what>\S+)\s*(?<sign>==|!=|<=|>=|<|>)\s*(?<value>.*)$/;
const COMPARISONS: Readonly<Record<string, string>> = { "==": "eq", "!=": "ne", "<": "lt", ">": "gt" };
const PATTERN_TEXT = /^pat\(\*?(?<text>[^*]+)\*?\)$/;
const DAY_MS = 86_400_000;

/** Reads conditions as `[STATUS] == 200`; what a monitor cannot ask is a note. */
export function readConditions(conditions: readonly string[]): GatusConditions {
  const found: Found = {
    expectedStatusCode: null,
    degradedResponseTimeMs: null,
    keyword: null,
    keywordMatchType: "contains",
    expiryWarnDays: null,
    assertions: [],
    notes: [],
  };
  for (const condition of conditions) {
    const { what = "", sign = "", value = "" } = CONDITION.exec(condition.trim())?.groups ?? {};
    const isTaken = takeStatus(found, what, sign, value) || takeTimes(found, what, sign, value);
    if (isTaken || isImplied(what, sign, value) || takeBody(found, what, sign, value)) continue;
    found.notes.push(`the condition ${condition}`);
  }
  return found;
}

type Found = { -readonly [Name in keyof GatusConditions]: GatusConditions[Name] } & {
  assertions: Assertion[];
  notes: string[];
};

/** What a check that is fine means anyway. */
function isImplied(what: string, sign: string, value: string): boolean {
  return (
    sign === "==" &&
    ((what === "[CONNECTED]" && value === "true") || (what === "[DNS_RCODE]" && value === "NOERROR"))
  );
}

function takeStatus(found: Found, what: string, sign: string, value: string): boolean {
  if (what !== "[STATUS]") return false;
  if (sign === "==" && /^[1-5]\d\d$/.test(value) && found.expectedStatusCode === null) {
    found.expectedStatusCode = Number(value);
    return true;
  }
  // 200 to 399 are fine by default.
  return (sign === "<" && value === "400") || (sign === ">=" && value === "200");
}

function takeTimes(found: Found, what: string, sign: string, value: string): boolean {
  if (what === "[RESPONSE_TIME]" && (sign === "<" || sign === "<=")) {
    const ms = /^\d+$/.test(value) ? Number(value) : durationMs(value);
    if (ms === null || ms < 100 || ms > 60_000) return false;
    found.degradedResponseTimeMs = ms;
    found.notes.push(`that it is down beyond ${ms} ms; it is degraded, and alertOnDegraded tells of that`);
    return true;
  }
  if (what === "[CERTIFICATE_EXPIRATION]" && (sign === ">" || sign === ">=")) {
    const ms = durationMs(value);
    if (ms === null) return false;
    found.expiryWarnDays = Math.min(90, Math.max(1, Math.ceil(ms / DAY_MS)));
    return true;
  }
  return false;
}

function takeBody(found: Found, what: string, sign: string, value: string): boolean {
  const comparison = COMPARISONS[sign];
  if (comparison === undefined) return false;
  const [, present] = /^has\(\[BODY\]\.?(.*)\)$/.exec(what) ?? [];
  if (present !== undefined && (value === "true" || value === "false")) {
    const isThere = (value === "true") === (sign === "==");
    found.assertions.push({
      source: "body_json",
      path: present,
      comparison: isThere ? "exists" : "not_exists",
    });
    return true;
  }
  const text = PATTERN_TEXT.exec(value)?.groups?.text;
  const isEqual = sign === "==" || sign === "!=";
  if (what === "[BODY]" && isEqual && text !== undefined) {
    if (found.keyword === null) {
      found.keyword = text;
      found.keywordMatchType = sign === "==" ? "contains" : "not_contains";
    } else found.assertions.push({ source: "body_text", comparison: containing(sign), value: text });
    return true;
  }
  // A function of Gatus that is not known is no value.
  if (text === undefined && /^[a-z]+\(/.test(value)) return false;
  if (what === "[BODY]" && isEqual) {
    found.assertions.push({ source: "body_text", comparison, value });
    return true;
  }
  const [, path] = /^\[BODY\]\.?([\w.[\]-]+)$/.exec(what) ?? [];
  if (path === undefined) return false;
  if (text === undefined) {
    const number = Number(value);
    if (!isEqual && !Number.isFinite(number)) return false;
    found.assertions.push({ source: "body_json", path, comparison, value: isEqual ? value : number });
  } else if (isEqual)
    found.assertions.push({ source: "body_json", path, comparison: containing(sign), value: text });
  else return false;
  return true;
}

function containing(sign: string): string {
  return sign === "==" ? "contains" : "not_contains";
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A duration as Go writes it, such as `1m30s`, in milliseconds; null for another text. */
export function durationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return null;
  let sum = 0;
  for (const [, number, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
    sum += Number(number) * (UNITS_MS[unit] ?? 0);
  return sum;
}
