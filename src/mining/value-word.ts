import { classAt, SPACE } from "./character-class.ts";
import { HOST_SUFFIXES } from "./vocabulary.ts";

/** Letters alone that are a number in base 16 all the same: shorter ones are words (`dead`, `added`). */
const HEX_MIN_CHARS = 8;
const HEX = /^(?:[a-f]+|[A-F]+)$/;

/** Names of errors and of constants say what happened: they stay, whatever package they come from. */
const TELLING_NAME = /(?:Exception|Error|Failure|Fault|Throwable)$|^[A-Z_]+$/;

const QUOTE = 34;
const APOSTROPHE = 39;
const DOT = 46;
const SLASH = 47;
const BACKSLASH = 92;
const GREATER = 62;
const AT = 64;

/**
 * Whether the word of a message between two offsets, which has no digit, is a value by its shape: a path, an address,
 * a host, a qualified name, a number in base 16. A word with a digit is a value anyway.
 */
export function isValueWord(message: string, start: number, end: number): boolean {
  let dots = 0;
  let slashes = 0;
  let backslashes = 0;
  let ats = 0;
  for (let i = start; i < end; i++) {
    const code = message.charCodeAt(i);
    if (code === DOT) dots++;
    else if (code === SLASH) slashes++;
    else if (code === BACKSLASH) backslashes++;
    else if (code === AT) ats++;
  }
  if (dots + slashes + backslashes + ats === 0)
    return end - start >= HEX_MIN_CHARS && HEX.test(message.slice(start, end));
  const first = message.charCodeAt(start);
  if (end - start === 1) return first === SLASH;
  if (backslashes > 0) return backslashes > 1 || first === BACKSLASH;
  if (slashes > 0) return first === SLASH || slashes > 1 || dots > 0;
  return dots > 0 && isDottedValue(message.slice(start, end), ats > 0);
}

/** An address, a host name or a name within a package; not `worker.start` or `retrying.`. */
function isDottedValue(word: string, hasAt: boolean): boolean {
  const labels = word.replace(/\.$/, "").split(".");
  if (labels.length < 2 || labels.includes("")) return false;
  if (hasAt) return true;
  const last = labels.at(-1) ?? "";
  if (HOST_SUFFIXES.has(last)) return true;
  return labels.length > 2 && labels.every((label) => label.length > 1) && !TELLING_NAME.test(last);
}

/** Two or four digits in base 16 that are all letters, as hardware and network addresses have between colons. */
export function isHexGroup(message: string, start: number, end: number): boolean {
  const length = end - start;
  if (length !== 2 && length !== 4) return false;
  for (let i = start; i < end; i++) {
    const lower = message.charCodeAt(i) | 32;
    if (lower < 97 || lower > 102) return false;
  }
  return true;
}

/** Three dots or more lead from a word to its value. */
export function isLeader(message: string, at: number): boolean {
  return (
    message.charCodeAt(at) === DOT && message.charCodeAt(at + 1) === DOT && message.charCodeAt(at + 2) === DOT
  );
}

/** The parameters of a path are part of it, whatever delimiters they have inside. */
export function endOfParameters(message: string, start: number, end: number): number {
  let slash = start;
  while (slash < end && message.charCodeAt(slash) !== 47) slash++;
  let question = slash;
  while (question < end && message.charCodeAt(question) !== 63) question++;
  if (question >= end) return end;
  let stop = end;
  for (; stop < message.length; stop++) {
    const code = message.charCodeAt(stop);
    if (classAt(message, stop) === SPACE || code === QUOTE || code === APOSTROPHE || code === GREATER) break;
  }
  return stop;
}
