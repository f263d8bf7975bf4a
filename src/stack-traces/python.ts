import { type ExceptionChain, ExceptionDraft, frameOf, headOf, type StackFrame } from "./frame.ts";
import { CHAIN_MAX } from "./limits.ts";
import { moduleOfPath, plainPath } from "./paths.ts";

const FRAME = /^File "([^"]*)", line (\d+)(?:, in (.+))?$/;
const LIBRARY =
  /\/(?:site|dist)-packages\/|\/lib(?:64)?\/python[\d.]+\/|\/Lib\/|^<|\/\.pyenv\/|\/importlib\/|\.zip\//;

/** `File "f.py", line 1, in g`; null for any other line. */
export function pythonFrame(line: string): StackFrame | null {
  const found = FRAME.exec(line);
  if (found === null) return null;
  const [, file = "", number, name = ""] = found;
  const own = name.slice(name.lastIndexOf(".") + 1);
  const inApp = !LIBRARY.test(plainPath(file));
  return frameOf({ function: own, module: moduleOfPath(file), inApp, file, line: number });
}

/** Blocks that begin with `Traceback`, the oldest first; in each the innermost call is the last. */
export function parsePython(lines: readonly string[]): ExceptionChain {
  const chain: ExceptionDraft[] = [];
  let frames: StackFrame[] = [];
  for (const written of lines) {
    // An exception group draws its members as a tree.
    const line = written.replace(/^[\s|+-]+(?=File "|\S)/, (indent) =>
      /[|+]/.test(indent) ? indent.replace(/[|+-]/g, " ").slice(2) : indent,
    );
    const frame = pythonFrame(line.trim());
    if (frame !== null) frames.push(frame);
    else if (
      frames.length > 0 &&
      /^\S/.test(line) &&
      !line.startsWith("Traceback") &&
      !/^[~^\s]+$/.test(line)
    ) {
      const { type, message } = headOf(line, true);
      const draft = new ExceptionDraft(type, message);
      for (const each of frames.toReversed()) draft.add(each);
      chain.push(draft);
      frames = [];
      if (chain.length >= CHAIN_MAX) break;
    }
  }
  if (frames.length > 0 && chain.length < CHAIN_MAX) {
    const draft = new ExceptionDraft("", "");
    for (const each of frames.toReversed()) draft.add(each);
    chain.push(draft);
  }
  return chain;
}
