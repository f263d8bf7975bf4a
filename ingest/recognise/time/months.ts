const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** The month whose first three letters stand at a place, in any case; 0 for none. */
export function monthAtOf(text: string, at: number): number {
  // Letters are compared by themselves: a slice and a map take longer than all else.
  for (let month = 0; month < MONTHS.length; month++) {
    const name = MONTHS[month] ?? "";
    if (
      (text.charCodeAt(at) | 0x20) === name.charCodeAt(0) &&
      (text.charCodeAt(at + 1) | 0x20) === name.charCodeAt(1) &&
      (text.charCodeAt(at + 2) | 0x20) === name.charCodeAt(2)
    )
      return month + 1;
  }
  return 0;
}
