import { dotnetFrame, parseDotnet } from "./dotnet.ts";
import { elixirFrame, parseElixir } from "./elixir.ts";
import type { ExceptionChain } from "./frame.ts";
import { goPlace, parseGo } from "./go.ts";
import { javaFrame, parseJava } from "./java.ts";
import { javascriptFrame, parseJavascript } from "./javascript.ts";
import { HEAD_MAX_CHARS, LINE_MAX_CHARS, TAIL_MAX_CHARS } from "./limits.ts";
import { parsePhp, phpFrame } from "./php.ts";
import { parsePython, pythonFrame } from "./python.ts";
import { parseRuby, rubyFrame } from "./ruby.ts";
import { parseRust, rustFrame } from "./rust.ts";

const PARSERS = {
  javascript: parseJavascript,
  python: parsePython,
  java: parseJava,
  go: parseGo,
  dotnet: parseDotnet,
  ruby: parseRuby,
  php: parsePhp,
  rust: parseRust,
  elixir: parseElixir,
} as const;

/** Calls of one runtime more than of all others that settle whose trace it is. */
const VOTES_LEAD = 6;

export type Runtime = keyof typeof PARSERS;

interface StackTrace {
  readonly runtime: Runtime;
  readonly chain: ExceptionChain;
}

/** The exceptions that a text tells of with their calls; null for a text without any call. It never throws. */
export function parseStack(text: string): StackTrace | null {
  const lines = linesOf(text);
  const runtime = runtimeOf(lines);
  if (runtime === null) return null;
  const chain = PARSERS[runtime](lines);
  return chain.some(({ frames }) => frames.length > 0) ? { runtime, chain } : null;
}

/** The lines of the first and the last part of a text; one that was written into one line with `\n` is unfolded. */
function linesOf(text: string): string[] {
  const bounded =
    text.length > HEAD_MAX_CHARS + TAIL_MAX_CHARS
      ? `${text.slice(0, HEAD_MAX_CHARS)}\n${text.slice(-TAIL_MAX_CHARS)}`
      : text;
  const unfolded =
    !bounded.includes("\n") && bounded.includes("\\n")
      ? bounded
          .replace(/(?:\\r)?\\n/g, "\n")
          .replaceAll("\\t", "\t")
          .replaceAll('\\"', '"')
      : bounded;
  return unfolded
    .split(/\r?\n|\r/)
    .map((line) => (line.length > LINE_MAX_CHARS ? line.slice(0, LINE_MAX_CHARS) : line));
}

/** Which runtime most of the calls are of: a program that reports another one's error has fewer lines of its own. */
function runtimeOf(lines: readonly string[]): Runtime | null {
  const votes = new Map<Runtime, number>();
  let best: Runtime | null = null;
  let all = 0;
  for (const written of lines) {
    const runtime = runtimeOfLine(written.trim());
    if (runtime === null) continue;
    const count = (votes.get(runtime) ?? 0) + 1;
    votes.set(runtime, count);
    all++;
    if (best === null || count > (votes.get(best) ?? 0)) best = runtime;
    if (2 * count - all >= VOTES_LEAD) return runtime;
  }
  return best;
}

/** Whose call a line is, told by what it begins with before it is read whole. */
function runtimeOfLine(line: string): Runtime | null {
  if (line.startsWith("at ")) {
    if (javaFrame(line) !== null) return "java";
    if (javascriptFrame(line) !== null) return "javascript";
    return dotnetFrame(line) === null ? null : "dotnet";
  }
  if (line.startsWith('File "')) return pythonFrame(line) === null ? null : "python";
  if (line.startsWith("#")) return phpFrame(line) === null ? null : "php";
  if (line.includes(".go:") && goPlace(line) !== null) return "go";
  if (line.includes(":in ") && rubyFrame(line) !== null) return "ruby";
  if (/^\d+: /.test(line)) return rustFrame(line) === null ? null : "rust";
  if (line.includes(".ex") || line.includes(".erl")) return elixirFrame(line) === null ? null : "elixir";
  return line.includes("@") && javascriptFrame(line) !== null ? "javascript" : null;
}
