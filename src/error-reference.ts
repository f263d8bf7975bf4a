import { ERROR_CODES, FIELD_ISSUE_CODES, QUERY_ISSUE_CODES } from "./errors.ts";

/** The text of docs/errors.md: every code of the registry with its status and meaning. */
export function renderErrorReference(): string {
  const rows = Object.entries(ERROR_CODES)
    .toSorted(([a, x], [b, y]) => x.status - y.status || (a < b ? -1 : 1))
    .map(([code, { status, summary }]) => `| \`${code}\` | ${status} | ${summary} |`);
  return `${HEAD}${rows.join("\n")}\n${ISSUES}`;
}

const HEAD = `# Error codes

Every answer that is not 2xx is a JSON object: \`{"error", "code", "fields"?, "requestId"}\`. \`error\` is for people and may
change; \`code\` is for programs: a code is never given another meaning and never removed. The request id is also in the
header \`X-Request-Id\`; the server logs under it.

The exceptions are the listener's own answers, without a body: 431 where address and headers together have more than 16 KiB or
there are more than some 190 lines of them, and 400, 505 or a closed connection for what is no request of HTTP. A long query goes into the
body of \`POST /api/v1/logs/query\`. Pages for people refuse with a page.

| Code | Status | Meaning |
|---|---|---|
`;

const ISSUES = `
## Fields

\`VALIDATION_FAILED\` lists up to 100 problems in \`fields\`, each \`{"path", "code", "message"}\`. \`path\` is a JSON pointer into
the body, or \`/name\` of a query parameter; it is empty for the body as a whole.

${codeTable(FIELD_ISSUE_CODES)}
\`KQL_INVALID\` lists the problems of a query. Each has besides those three the place: \`line\` and \`column\`, both from 1,
\`start\` and \`end\`, offsets in the text, \`text\`, what stands there, and \`suggestion\`, what was probably meant, or null.
Columns and offsets count UTF-16 units.

${codeTable(QUERY_ISSUE_CODES)}`;

function codeTable(codes: Readonly<Record<string, string>>): string {
  const rows = Object.entries(codes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |\n`);
  return `| Code | Meaning |\n|---|---|\n${rows.join("")}`;
}
