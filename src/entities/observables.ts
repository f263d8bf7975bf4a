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

/** What a candidate of `query/observables.ts` is; null for what only looks so. */
export function observableOf(candidate: string): IndicatorValue | null {
  if (isIP(candidate) !== 0) return indicator("ip", candidate);
  if (!candidate.includes(".")) return indicator("hash", candidate);
  return isDomain(candidate) ? indicator("domain", candidate) : null;
}

function isDomain(name: string): boolean {
  const labels = name.split(".");
  const top = labels.at(-1)?.toLowerCase() ?? "";
  if (ALSO_FILES.has(top)) return labels.length > 2;
  return top.length === 2 || GENERIC.has(top) || top.startsWith("xn--");
}

function indicator(type: "ip" | "domain" | "hash", text: string): IndicatorValue | null {
  const reading = readIndicator(type, text);
  return reading.ok ? reading.indicator : null;
}
