/** The line and column of an offset, both counted from 1, columns in UTF-16 units. A line ends with \n, \r\n or \r. */
export function lineAndColumn(
  text: string,
  offset: number,
): { readonly line: number; readonly column: number } {
  let line = 1;
  let lineStart = 0;
  const end = Math.min(offset, text.length);
  for (const { index, 0: lineBreak } of text.slice(0, end).matchAll(/\r\n|\r|\n/g)) {
    line++;
    lineStart = index + lineBreak.length;
  }
  return { line, column: end - lineStart + 1 };
}
