import { passwordInAuthority } from "./end-of-value.ts";
import type { MaskedSpan, MaskPattern } from "./mask-pattern.ts";
import { NamedValues } from "./named-values.ts";

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

/** Each part of a name may be capitalised or not: `apiKey`, `Api-Key`, `API_KEY`, `passWord`. */
const PASSWORD_NAME = [
  `${anyCase("pass")}${anyCase("word", "wd", "phrase")}`,
  anyCase("pwd", "secret", "token", "credential"),
  `${anyCase("api", "access", "private", "secret")}[_-]?${anyCase("key")}`,
]
  .map((name) => `${name}[sS]?`)
  .join("|");
/** Parts that all of these names have one of. */
const PASSWORD_HINTS = [
  ...["ass", "ASS"].flatMap((part) => ["w", "W", "p", "P"].map((next) => part + next)),
  ...["ecret", "oken", "redential"].flatMap((part) => [part, part.toUpperCase()]),
  ...["pwd", "key"].flatMap(casesOf),
  "://",
];
const PASSWORD_REPLACEMENT = "[password]";
const NAMED = new NamedValues(PASSWORD_NAME, PASSWORD_REPLACEMENT, "line");
const SECRET_NAME = new RegExp(`(?:${PASSWORD_NAME})$`);
const BEFORE_AUTHORITY = "://";

/** Values behind the name of a secret, whatever the name begins with, and passwords in addresses. The name stays. */
export const PASSWORD_PATTERN: MaskPattern = {
  find: (text) => united([...NAMED.in(text), ...passwordsInAddresses(text)]),
  hint: { literals: PASSWORD_HINTS },
  isSecretName: (name) => SECRET_NAME.test(name),
};

/** The passwords of users in addresses (RFC 3986, 3.2.1). */
function passwordsInAddresses(text: string): MaskedSpan[] {
  const spans: MaskedSpan[] = [];
  let at = text.indexOf(BEFORE_AUTHORITY);
  while (at !== -1) {
    const { end, password } = passwordInAuthority(text, at + BEFORE_AUTHORITY.length);
    if (password !== null && !text.startsWith(PASSWORD_REPLACEMENT, password.start))
      spans.push({ ...password, replacement: PASSWORD_REPLACEMENT });
    // The next address may begin with the colon that was read last.
    at = text.indexOf(BEFORE_AUTHORITY, end - 1);
  }
  return spans;
}

function casesOf(word: string): string[] {
  return [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)];
}

function anyCase(...words: string[]): string {
  return `(?:${words.flatMap(casesOf).join("|")})`;
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

/** In ascending order, those as one of which one begins within another. */
function united(spans: readonly MaskedSpan[]): MaskedSpan[] {
  const kept: MaskedSpan[] = [];
  for (const span of spans.toSorted((left, right) => left.start - right.start)) {
    const last = kept.at(-1);
    if (last === undefined || span.start >= last.end) kept.push(span);
    else kept[kept.length - 1] = { ...last, end: Math.max(last.end, span.end) };
  }
  return kept;
}
