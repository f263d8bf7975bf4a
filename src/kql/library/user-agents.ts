import { Type } from "typebox";
import { lateCheck } from "../../late-check.ts";
import { USER_AGENT_MAX_CHARS } from "./limits.ts";

/**
 * What a user agent names, by the expressions of uap-core and the way its specification applies them
 * (github.com/ua-parser/uap-core, docs/specification.md): the first that matches decides.
 */

const Rule = Type.Record(Type.String(), Type.String());
const rulesText = lateCheck(
  Type.Object({
    user_agent_parsers: Type.Array(Rule),
    os_parsers: Type.Array(Rule),
    device_parsers: Type.Array(Rule),
  }),
);

/** An expression, and what its groups are put into: texts with `$1` to `$9`, null for the group of the same place. */
interface Parser {
  readonly expression: RegExp;
  readonly parts: readonly (string | null)[];
}

const BROWSER_PARTS = ["family_replacement", "v1_replacement", "v2_replacement", "v3_replacement"];
const SYSTEM_PARTS = [
  "os_replacement",
  "os_v1_replacement",
  "os_v2_replacement",
  "os_v3_replacement",
  "os_v4_replacement",
];
const DEVICE_PARTS = ["device_replacement", "brand_replacement", "model_replacement"];

export class UserAgents {
  readonly #browsers: readonly Parser[];
  readonly #systems: readonly Parser[];
  readonly #devices: readonly Parser[];

  /** Of the text of `regexes.yaml`. Throws for one of another form. */
  constructor(text: string) {
    // The runtime's own parser: in JavaScript it takes the thread for a third of a second.
    const rules: unknown = Bun.YAML.parse(text);
    if (!rulesText.Check(rules)) throw new TypeError("the expressions for user agents have another form");
    this.#browsers = rules.user_agent_parsers.map((rule) => parserOf(rule, BROWSER_PARTS));
    this.#systems = rules.os_parsers.map((rule) => parserOf(rule, SYSTEM_PARTS));
    this.#devices = rules.device_parsers.map((rule) => parserOf(rule, DEVICE_PARTS));
  }

  /** The JSON text of a bag with what is asked for: `browser`, `os`, `device`, as a text or a JSON array; all by default. */
  readonly describe = (userAgent: string, option: string | null): string => {
    const text = userAgent.slice(0, USER_AGENT_MAX_CHARS);
    const isAsked = (part: string): boolean => option === null || option.toLowerCase().includes(part);
    return JSON.stringify({
      ...(isAsked("browser") && { Browser: this.#browser(text) }),
      ...(isAsked("os") && { OperatingSystem: this.#system(text) }),
      ...(isAsked("device") && { Device: this.#device(text) }),
    });
  };

  #browser(text: string) {
    const [family, major, minor, patch] = firstMatch(this.#browsers, text) ?? [];
    return {
      Family: family || "Other",
      ...{ MajorVersion: major ?? "", MinorVersion: minor ?? "", Patch: patch ?? "" },
    };
  }

  #system(text: string) {
    const [family, major, minor, patch, patchMinor] = firstMatch(this.#systems, text) ?? [];
    return {
      Family: family || "Other",
      ...{ MajorVersion: major ?? "", MinorVersion: minor ?? "" },
      ...{ Patch: patch ?? "", PatchMinor: patchMinor ?? "" },
    };
  }

  /** A device without a brand or a model of its own has none, and one without a replacement is called by its first group. */
  #device(text: string) {
    const [family, brand, model] = firstMatch(this.#devices, text, 1) ?? [];
    return { Family: family || "Other", Brand: brand ?? "", Model: model ?? family ?? "" };
  }
}

function parserOf(rule: Readonly<Record<string, string>>, parts: readonly string[]): Parser {
  const { regex = "", regex_flag: flag = "" } = rule;
  return { expression: new RegExp(regex, flag), parts: parts.map((part) => rule[part] ?? null) };
}

/** What the first expression that matches says of each part; only the first `own` parts are groups by their place. */
function firstMatch(
  parsers: readonly Parser[],
  text: string,
  own = Number.POSITIVE_INFINITY,
): (string | undefined)[] | null {
  for (const { expression, parts } of parsers) {
    const match = expression.exec(text);
    if (match === null) continue;
    return parts.map((part, i) => {
      if (part === null) return i < own ? match[i + 1] : undefined;
      return part.replace(/\$([1-9])/g, (_, group: string) => match[Number(group)] ?? "").trim();
    });
  }
  return null;
}
