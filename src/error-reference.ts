import { ERROR_CODES } from "./errors.ts";

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

| Code | Status | Meaning |
|---|---|---|
`;

const ISSUES = `
## Fields

\`VALIDATION_FAILED\` lists up to 100 problems in \`fields\`, each \`{"path", "code", "message"}\`. \`path\` is a JSON pointer into
the body, or \`/name\` of a query parameter; it is empty for the body as a whole.

| Code | Meaning |
|---|---|
| \`invalid_type\` | Another JSON type is expected, or the field is missing. |
| \`unrecognized_keys\` | The field or parameter is not known here. |
| \`invalid_literal\` | The value is not one of those allowed. |
| \`too_small\` | Below the minimum, too short or too few. |
| \`too_big\` | Above the maximum, too long or too many. |
| \`invalid_string\` | The text does not have the expected form. |
| \`invalid_union\` | The value has none of the accepted forms. |
| \`custom\` | Another rule; the message says which. |
`;
