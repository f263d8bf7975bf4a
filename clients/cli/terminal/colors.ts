export interface Colors {
  dim(text: string): string;
  bold(text: string): string;
  /** What was looked for. */
  mark(text: string): string;
  level(level: string, text: string): string;
}

const RESET = "\u001b[0m";
const BOLD = "\u001b[1m";
const INVERSE = "\u001b[7m";
const DIM = "\u001b[2m";
const LEVEL_CODES: Readonly<Record<string, string>> = {
  trace: "\u001b[90m",
  debug: "\u001b[36m",
  info: "\u001b[32m",
  warn: "\u001b[33m",
  error: "\u001b[31m",
  fatal: "\u001b[1;31m",
};

/** Colours when `enabled`, the text itself otherwise. */
export function makeColors(enabled: boolean): Colors {
  if (!enabled) {
    const same = (text: string): string => text;
    return { dim: same, bold: same, mark: same, level: (_, text) => text };
  }
  return {
    dim: (text) => `${DIM}${text}${RESET}`,
    bold: (text) => `${BOLD}${text}${RESET}`,
    mark: (text) => `${INVERSE}${text}${RESET}`,
    level: (level, text) => {
      const code = LEVEL_CODES[level];
      return code === undefined ? text : `${code}${text}${RESET}`;
    },
  };
}

/** Colour is for terminals, and only where NO_COLOR (no-color.org: any non-empty value) and TERM do not object. */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  return isTerminal && !env.NO_COLOR && env.TERM !== "dumb";
}
