import type { MaskedSpan, MaskPattern } from "./mask-pattern.ts";

/** Names of schemes that stand before credentials in a header (RFC 9110, 11.4). */
const SCHEMES = ["bearer", "basic", "splunk", "apikey"].flatMap(casesOf);

/** What is the same of a scheme's name whether it is capitalised. */
const SCHEME_ENDS = new Set(SCHEMES.map((scheme) => scheme.slice(1)));

/** Credentials that say what they are by how they begin, as those who give them out document it. */
const TOKEN = anyOf([
  // JSON Web Tokens: a header is an object, and so begins with `{"` in base64url.
  /\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/,
  /\bobs_[\w-]{43}/,
  /\bgh[pousr]_\w{30,}/,
  /\bgithub_pat_\w{22,}/,
  /\bglpat-[\w-]{20,}/,
  /\bxox[abeoprs]-[\w-]{10,}/,
  /\b(?:sk|rk|pk)_(?:live|test)_\w{10,}/,
  /\bsk-[\w-]{20,}/,
  /\bnpm_\w{30,}/,
  /\bSG\.[\w-]{16,}\.[\w-]{16,}/,
  new RegExp(`\\b(?:${SCHEMES.join("|")})[ \\t]+[\\w.~+/-]{8,}=*`),
]);

/** Access tokens, web tokens, and credentials of an `Authorization` header. */
export const TOKEN_PATTERN: MaskPattern = {
  find: (text) => spansOf(text, TOKEN, "[token]"),
  hint: {
    literals: [
      ...["eyJ", "obs_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox"],
      ...["_live_", "_test_", "sk-", "npm_", "SG.", ...SCHEME_ENDS],
    ],
  },
};

/** Access keys of clouds, and private keys in PEM (RFC 7468), to its end where the text was cut off. */
const KEY = anyOf([
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[\w-]{35}/,
  /-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY-----[^-]*(?:-----END [A-Z0-9 ]{0,32}PRIVATE KEY-----)?/,
]);

export const KEY_PATTERN: MaskPattern = {
  find: (text) => spansOf(text, KEY, "[key]"),
  hint: { literals: ["AKIA", "ASIA", "AIza", "PRIVATE KEY-----"] },
};

const PASSWORD_NAMES = [
  ...["password", "passwd", "passphrase", "pwd", "secret", "token", "credential"].flatMap(casesOf),
  ...["api", "access", "private", "secret"].flatMap(casesOf).flatMap((word) => keyNames(word)),
];
/** Parts that all of these names have one of. */
const PASSWORD_HINTS = [
  ...["assw", "assp", "ecret", "oken", "redential"].flatMap((part) => [part, part.toUpperCase()]),
  ...["pwd", "key"].flatMap(casesOf),
  "://",
];
const NAME = `(?:[\\w-]{0,32}?)(?:${PASSWORD_NAMES.join("|")})s?`;
/** A value behind its name: `password=…`, `"pwd": "…"`, `--secret='…'`; not what only mentions one. */
const NAMED = new RegExp(
  `(?<before>(?<![\\w-])${NAME}\\\\?["']?[ \\t]{0,4}[=:][ \\t]{0,4})` +
    `(?!\\[password\\])(?<value>\\\\?"(?:[^"\\\\]|\\\\.)*"|'[^']*'|[^\\s,;&"')\\]}\\\\]+)`,
  "g",
);
/** The password of a user in an address (RFC 3986, 3.2.1). */
const USER_INFO = /(?<before>:\/\/[^\s:/?#@"']{0,128}:)(?!\[password\])(?<value>[^\s/?#@"']{1,256})(?=@)/g;
const SECRET_NAME = new RegExp(`^(?:.*[._-])?${NAME}$`);

/** Values behind the name of a secret, and passwords in addresses. The name stays. */
export const PASSWORD_PATTERN: MaskPattern = {
  find: (text) => ascending([...valuesOf(text, NAMED), ...valuesOf(text, USER_INFO)]),
  hint: { literals: PASSWORD_HINTS },
  isSecretName: (name) => SECRET_NAME.test(name),
};

function casesOf(word: string): string[] {
  return [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)];
}

/** `api_key`, `apiKey`, `apikey`, `API-KEY`, each in the case of the word before. */
function keyNames(word: string): string[] {
  const key = word === word.toUpperCase() ? "KEY" : "key";
  return [`${word}${key}`, `${word}_${key}`, `${word}-${key}`, `${word}Key`];
}

function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"), "g");
}

function spansOf(text: string, pattern: RegExp, replacement: string): MaskedSpan[] {
  return [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
    replacement,
  }));
}

function valuesOf(text: string, pattern: RegExp): MaskedSpan[] {
  return [...text.matchAll(pattern)].map(({ index, groups }) => {
    const start = index + (groups?.before ?? "").length;
    return { start, end: start + (groups?.value ?? "").length, replacement: "[password]" };
  });
}

/** In ascending order, without those that begin within another. */
function ascending(spans: readonly MaskedSpan[]): MaskedSpan[] {
  const kept: MaskedSpan[] = [];
  for (const span of spans.toSorted((left, right) => left.start - right.start))
    if (span.start >= (kept.at(-1)?.end ?? 0)) kept.push(span);
  return kept;
}
