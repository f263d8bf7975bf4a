/**
 * One line per RFC 4180. Values stand as they are, so a spreadsheet may take one that begins with `=`, `+`, `-` or `@`
 * for a formula: the documentation of a route that answers CSV says so.
 */
export function csvRecord(cells: readonly string[]): string {
  return `${cells.map(quoted).join(",")}\r\n`;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
