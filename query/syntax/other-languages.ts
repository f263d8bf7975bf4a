import type { Problem } from "./diagnostic.ts";

/** A language that people write from habit: how it is told, and what to write instead. */
interface OtherLanguage {
  readonly pattern: RegExp;
  readonly message: string;
}

// Each pattern is tried at one place or walks the text once, so that none takes longer than the text is long.
const LANGUAGES: readonly OtherLanguage[] = [
  {
    pattern: /^\s*select\s[^|]*\bfrom\s/i,
    message:
      'This is SQL. Here the table comes first and each step stands behind a |: logs | where level == "error" | summarize count() by service | sort by count_ desc | take 10. SELECT is project, GROUP BY is summarize ... by, ORDER BY is sort by, LIMIT is take.',
  },
  {
    pattern: /^\s*(?:\w+\s*(?:by\s*\(\w+\)\s*)?\(\s*){0,3}\{\s*(?:\w+\s*(?:=|!=|=~|!~)\s*["`]|\})/,
    message:
      'This is LogQL. {service="web"} |= "timeout" is here: service == "web" and message has "timeout"; a rate is: summarize count() by bin(ts, 5m).',
  },
  {
    pattern: /\bcount(?: | ?\( ?)distinct /i,
    message: "Different values are counted by dcount: logs | summarize dcount(service).",
  },
  {
    pattern: /^\s*(?:search\s+)?(?:index|sourcetype)\s*=/,
    message:
      'This is SPL. key=value is here key == "value", words stand in quotes, and stats count by host is summarize count() by host: source == "nginx" and message has "error" | summarize count() by host.',
  },
];

/** What to say of a text that cannot be read because it is written in another language; null for any other. */
export function otherLanguage(text: string): Problem | null {
  const found = LANGUAGES.find(({ pattern }) => pattern.test(text));
  if (found === undefined) return null;
  const start = text.length - text.trimStart().length;
  const [word = ""] = /^\S*/.exec(text.slice(start)) ?? [];
  return {
    code: "SYNTAX",
    message: found.message,
    span: { start, end: start + word.length },
    suggestion: null,
  };
}

/** What stands here for the operators of other languages. */
const OPERATORS: ReadonlyMap<string, readonly [advice: string, suggestion: string]> = new Map([
  ["group", ["Write summarize count() by column.", "summarize count() by"]],
  ["having", ["A condition behind summarize is another where.", "where"]],
  ["select", ["Write project.", "project"]],
  ["fields", ["Write project.", "project"]],
  ["table", ["Write project.", "project"]],
  ["keep", ["Write project.", "project"]],
  ["drop", ["Write project-away.", "project-away"]],
  ["project-out", ["Write project-away.", "project-away"]],
  ["rename", ["Write project-rename new = old.", "project-rename"]],
  ["eval", ["Write extend.", "extend"]],
  ["head", ["Write take for any rows, top 5 by ts desc for the newest.", "take"]],
  ["tail", ["Write top 5 by ts desc for the newest.", "top"]],
  ["first", ["Write take for any rows, top 5 by ts asc for the oldest.", "take"]],
  ["last", ["Write top 5 by ts desc for the newest.", "top"]],
  ["dedup", ["Write distinct for values, summarize arg_max(ts, *) by column for rows.", "distinct"]],
  ["uniq", ["Write distinct.", "distinct"]],
  ["unique", ["Write distinct.", "distinct"]],
  ["stats", ["Write summarize count() by column.", "summarize"]],
  ["aggregate", ["Write summarize count() by column.", "summarize"]],
  ["timechart", ["Write summarize count() by bin(ts, 1h) | render timechart.", "summarize"]],
  ["rex", ["Write parse, or extend x = extract(pattern, 1, message).", "parse"]],
  ["grep", ['Write where message has "word".', "where message has"]],
  ["json", ["Write extend x = parse_json(message).", "extend"]],
  ["logfmt", ["Write parse-kv message as (key: string).", "parse-kv"]],
]);

/** How the operator of another language is written here; null for a name that is of none. */
export function operatorElsewhere(name: string): readonly [advice: string, suggestion: string] | null {
  return OPERATORS.get(name.toLowerCase()) ?? null;
}

/** What stands here for a word or sign between two values, in conditions and elsewhere. */
const BETWEEN: ReadonlyMap<string, readonly [advice: string, suggestion: string]> = new Map([
  ["like", ['LIKE "%x%" is here contains "x"; startswith and endswith are the others.', "contains"]],
  ["ilike", ['ILIKE "%x%" is here contains "x"; startswith and endswith are the others.', "contains"]],
  ["rlike", ['Write matches regex "pattern".', "matches regex"]],
  ["regexp", ['Write matches regex "pattern".', "matches regex"]],
  ["matches", ['Write matches regex "pattern".', "matches regex"]],
  ["~", ['Write matches regex "pattern", or =~ for the same text in any case.', "matches regex"]],
  ["?", ["Write iff(condition, then, else).", "iff"]],
  ["when", ["Write case(condition, then, otherwise).", "case"]],
  ["descending", ["Write desc.", "desc"]],
  ["ascending", ["Write asc.", "asc"]],
  ["equals", ["Write ==.", "=="]],
  ["exists", ["Write isnotempty(column).", "isnotempty"]],
]);

export function wordElsewhere(text: string): readonly [advice: string, suggestion: string] | null {
  return BETWEEN.get(text.toLowerCase()) ?? null;
}
