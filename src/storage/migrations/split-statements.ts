/** What may hold a semicolon that ends nothing: comments, strings, quoted names and heredocs, or one more character. */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`\\]|\\[\s\S]|``)*`|\$(\w*)\$[\s\S]*?\$\1\$|[\s\S]/gy;

function isComment(token: string): boolean {
  return token.startsWith("--") || token.startsWith("/*");
}

/**
 * Splits ClickHouse SQL at its semicolons: the HTTP interface takes one statement at a time. Comments are left out;
 * what remains of each statement is trimmed, and empty ones are dropped.
 */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let current = "";
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token === ";") {
      statements.push(current);
      current = "";
    } else {
      current += isComment(token) ? " " : token;
    }
  }
  statements.push(current);
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "");
}
