import { isIP } from "node:net";
import { type IndicatorValue, readIndicator } from "./indicators/indicator-value.ts";

/**
 * Top-level domains by which a name with dots is taken for a domain, beside those of countries: what most of the internet's names end
 * in. Names of classes, files and fields have dots, too.
 */
const GENERIC = new Set(
  (
    "com net org info biz name pro mobi asia tel travel jobs edu gov mil int arpa app dev page cloud online site website " +
    "store shop blog xyz top club live life world today space tech host hosting digital agency email network systems " +
    "solutions services support center company group media news press wiki work works zone link click download stream " +
    "vip win bid loan men date racing review trade party science icu cyou cfd sbs rest monster quest buzz fun gdn kim " +
    "lol red pink blue black green bank finance money capital fund onion example test"
  ).split(" "),
);
/** Countries whose letters end names of files and modules: of these only names with a dot more are taken. */
const ALSO_FILES = new Set("cc cs gz id in is js md mk pl pm ps py rs sc sh so st ts vb zip".split(" "));

/** Letters of scripts from Thai to Han, in which a name may be one with the words before it. */
const WITHOUT_BLANKS = /[\u0e00-\u1dff\u2000-\uffff]/;

/** What a candidate of `query/observables.ts` is where somebody says so: a domain may end in anything. Null for what only looks so. */
export function observableOf(candidate: string): IndicatorValue | null {
  if (isIP(candidate) !== 0) return indicator("ip", candidate);
  return indicator(candidate.includes(".") ? "domain" : "hash", candidate);
}

/** Whether a candidate is by itself what `observableOf` says, though nobody has listed it. */
export function isCertain(candidate: string): boolean {
  return isIP(candidate) !== 0 || !candidate.includes(".") || isDomain(candidate);
}

/**
 * Whether names end as those on the internet do: in what registries give out, names of files among them. The list is loaded when it is
 * first asked for.
 */
export async function internetNames(): Promise<(domain: string) => boolean> {
  const { parse } = await import("tldts");
  return (domain) => parse(domain, PLAIN_NAME).isIcann === true;
}

const PLAIN_NAME = { extractHostname: false, validateHostname: false, detectIp: false };

function isDomain(name: string): boolean {
  if (WITHOUT_BLANKS.test(name)) return false;
  const labels = name.split(".");
  const top = labels.at(-1)?.toLowerCase() ?? "";
  if (ALSO_FILES.has(top)) return labels.length > 2;
  return /^[a-z]{2}$/.test(top) || GENERIC.has(top) || top.startsWith("xn--");
}

function indicator(type: "ip" | "domain" | "hash", text: string): IndicatorValue | null {
  const reading = readIndicator(type, text);
  return reading.ok ? reading.indicator : null;
}
