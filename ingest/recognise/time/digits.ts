/** The digit at a place of a text, or -1. */
export function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

/** `count` digits as a number, the first of which may be a blank; -1 when they are none. */
export function numberAt(text: string, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const digit = digitAt(text, i);
    if (digit >= 0) value = value * 10 + digit;
    else if (i > at || count < 2 || text.charCodeAt(i) !== 0x20) return -1;
  }
  return value;
}
