/** Whether a test of a reach holds on a row as it is stored but for its number, said plainly; and rows and conditions to try. */
import fc from "fast-check";
import type { ReachTest, Subject } from "../../../query/reach/reach.ts";
import type { BlockRow } from "../../../src/receive/block-row.ts";

export function holds(test: ReachTest, row: BlockRow): boolean {
  if (test.kind === "there") return row.attribute(test.key) !== null;
  const text = textOf(test.subject, row);
  if (text === null) return false;
  if (test.kind === "is") return test.texts.includes(text);
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).includes(test.literal);
}

function textOf(subject: Subject, row: BlockRow): string | null {
  return subject.kind === "column" ? row.text(subject.name) : (row.attribute(subject.key)?.text ?? null);
}

const LETTERS = [..."abkKsSiI19 _-.,:@/\t\"'\\%äÄßẞσςΣжЖǆǅǄİıſ磁é😀ა\u212a\u0345"];
const WORDS = [
  "error",
  "Error",
  "timeout",
  "time",
  "k1",
  "ΣΣσ",
  "straße",
  "STRASSE",
  "磁气",
  "café",
  "ſtop",
  "a",
];
const word = fc.constantFrom(...WORDS);
const text = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: word },
      { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 6 }) },
    ),
    {
      maxLength: 3,
    },
  )
  .chain((parts) => fc.constantFrom(" ", "", "-", "é").map((gap) => parts.join(gap)));
const VALUES = [
  0,
  5,
  401,
  401.5,
  -1,
  1e21,
  "401",
  "401.0",
  "4.01e2",
  " 401",
  "+401",
  "0x191",
  "true",
  "null",
  "",
  "nan",
];
const scalar = fc.oneof(
  fc.constantFrom(...VALUES),
  fc.constantFrom("401.0", "401", "4010e-1").map((digits) => JSON.rawJSON(digits)),
  fc.boolean(),
  fc.constant(null),
  text,
);
const KEYS = ["n", "s", "user", "user.id", "flag"];

export const entry = fc.record(
  {
    message: text.map((message) => (message === "" ? "x" : message)),
    level: fc.constantFrom("info", "error", "warn"),
    service: fc.constantFrom("api", "API", "web", "wéb"),
    host: text.map((host) => host.slice(0, 60)),
    attrs: fc.dictionary(
      fc.constantFrom(...KEYS),
      fc.oneof(
        scalar,
        scalar,
        scalar,
        fc.array(scalar, { maxLength: 2 }),
        fc.dictionary(fc.constantFrom("id", "x"), scalar),
      ),
    ),
  },
  { requiredKeys: ["message"] },
);

const quoted = (value: string): string => JSON.stringify(value.replaceAll("\t", " "));
const subject = fc.constantFrom(
  "message",
  "message",
  "level",
  "service",
  "host",
  "source",
  "s",
  "n",
  "attrs.s",
  "user.id",
  "tostring(n)",
  "tostring(user.id)",
);
const TEXT_OPERATORS = [
  "==",
  "!=",
  "=~",
  "!~",
  "contains",
  "contains_cs",
  "startswith",
  "startswith_cs",
  "endswith",
  "endswith_cs",
  "has",
  "has_cs",
  "hasprefix",
  "hasprefix_cs",
  "hassuffix",
  "hassuffix_cs",
];
const ofText = fc
  .tuple(
    subject,
    fc.constantFrom(...TEXT_OPERATORS, "!contains", "!has", "!startswith", "matches regex", "like"),
    fc.oneof(word, text),
  )
  .map(
    ([left, operator, right]) =>
      `${left} ${operator} ${quoted(operator === "matches regex" ? "[a-z]+" : right)}`,
  );
const ofList = fc
  .tuple(
    subject,
    fc.constantFrom("in", "!in", "in~", "!in~", "has_any", "has_all"),
    fc.array(fc.oneof(word, text), { minLength: 1, maxLength: 3 }),
  )
  .map(([left, operator, items]) => `${left} ${operator} (${items.map(quoted).join(", ")})`);
const ofNumber = fc
  .tuple(
    fc.constantFrom("n", "attrs.n", "toint(n)", "tolong(n)", "toreal(user.id)", "user.id"),
    fc.constantFrom("==", "!=", "<", "<=", ">", ">="),
    fc.constantFrom("0", "401", "401.5", "-1", "9007199254740993"),
  )
  .map(([left, operator, right]) => `${left} ${operator} ${right}`);
const other = fc.constantFrom(
  "isempty(s)",
  "isnotempty(n)",
  "isnotempty(user.id)",
  "isempty(host)",
  "isnull(n)",
  "flag == true",
  "flag == false",
  "tobool(flag) != true",
  "n in (401, 5)",
  "n !in (401)",
  "n between (0 .. 500)",
  "n + 1 > 2",
  "n == s",
  "s =~ service",
  "s in~ (source)",
  "s in~ (source, 'api')",
  "s in (source)",
  "n < user.id",
  "iff(s has 'error', true, message has 'error')",
  "strlen(message) > 3",
  "tolower(service) == 'api'",
  "* has 'error'",
  "attrs has 'timeout'",
  "coalesce(s == 'error', true)",
  "true",
  "false",
  "source == ''",
  "'error' == s",
  "401 == n",
  "not(false)",
  "id > 0",
);
const condition = fc.oneof(
  { weight: 5, arbitrary: ofText },
  { weight: 2, arbitrary: ofList },
  { weight: 2, arbitrary: ofNumber },
  { weight: 2, arbitrary: other },
);
const connected = fc
  .tuple(condition, fc.constantFrom("and", "or"), condition)
  .map((parts) => parts.join(" "));

/** KQL that keeps entries as they are. */
export const query = fc.oneof(
  { weight: 3, arbitrary: condition },
  { weight: 3, arbitrary: connected },
  fc.tuple(connected, condition).map(([one, two]) => `logs | where ${one} | where ${two}`),
  fc.tuple(condition, condition, condition).map(([a, b, c]) => `(${a} and ${b}) or not(${c})`),
  fc.tuple(condition, condition, condition).map(([a, b, c]) => `(${a} or ${b}) and ${c}`),
);
