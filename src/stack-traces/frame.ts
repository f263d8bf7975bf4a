import { FRAMES_MAX, NAME_MAX_CHARS } from "./limits.ts";

/** A call on a stack, as the runtime wrote it and as what stays the same over builds, hosts and releases. */
export interface StackFrame {
  /** Without generated numbers, arguments and addresses; empty for one that has no name. */
  readonly function: string;
  /** The class, package or file, without what changes with a build or a host; empty where the function says it. */
  readonly module: string;
  /** As written; null where the runtime says none. */
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  /** Whether it is code of whoever runs the program, and not of a library or the runtime. */
  readonly inApp: boolean;
  /** Whether it tells one place from another: a nameless function of a minified bundle does not. */
  readonly isTelling: boolean;
}

/** One of the exceptions that a trace tells of. */
interface StackException {
  /** Empty where the trace does not say. */
  readonly type: string;
  readonly message: string;
  /** The innermost call first. */
  readonly frames: readonly StackFrame[];
}

/** The exceptions of a trace, the deepest cause first. */
export type ExceptionChain = readonly StackException[];

interface FrameParts {
  readonly function: string;
  readonly module: string;
  readonly inApp: boolean;
  readonly file?: string | undefined;
  readonly line?: string | number | undefined;
  readonly column?: string | number | undefined;
  readonly isTelling?: boolean;
}

export function frameOf({ file, line, column, isTelling = true, ...parts }: FrameParts): StackFrame {
  return {
    function: parts.function.slice(0, NAME_MAX_CHARS),
    module: parts.module.slice(0, NAME_MAX_CHARS),
    file: file === undefined || file === "" ? null : file.slice(0, NAME_MAX_CHARS),
    line: numberOf(line),
    column: numberOf(column),
    inApp: parts.inApp,
    isTelling: isTelling && (parts.function !== "" || parts.module !== ""),
  };
}

function numberOf(text: string | number | undefined): number | null {
  const value = Number(text);
  return text === undefined || text === "" || !Number.isSafeInteger(value) ? null : value;
}

/** Collects what lines say of one exception. */
export class ExceptionDraft {
  readonly type: string;
  message: string;
  readonly frames: StackFrame[] = [];

  constructor(type: string, message: string) {
    this.type = type.slice(0, NAME_MAX_CHARS);
    this.message = message;
  }

  add(frame: StackFrame): void {
    if (this.frames.length < FRAMES_MAX) this.frames.push(frame);
  }
}

const PREFIXES = /^(?:Uncaught |Unhandled |\(in promise\) |Exception in thread "[^"]*" )+/;
const HEAD = /^([A-Za-z_$][\w$.\\]*(?:::[\w$]+)*)(?: \([-\w]+\)| \[[\w.]+\])?(?::(?= |$)\s*(.*)|(?=$))$/s;
const TYPE_ENDING = /(?:Error|Exception|Failure|Fault|Throwable|Interrupt|Exit|Warning|Timeout|Panic)$/;
const LEVELS = /^(?:ERROR|ERR|FATAL|CRITICAL|WARN|WARNING|INFO|DEBUG|TRACE|ALERT|EMERG|PANIC|SEVERE)$/;

/**
 * `Type: message`, as most runtimes head a trace; the type is empty where the line has none. `any` word may be a type where
 * the place of the line says that it is one.
 */
export function headOf(line: string, any = false): { readonly type: string; readonly message: string } {
  const text = line.trim().replace(PREFIXES, "");
  const [, word = "", message] = HEAD.exec(text) ?? [];
  return word !== "" && (any || isTypeName(word))
    ? { type: word, message: message ?? "" }
    : { type: "", message: text };
}

/** Whether a word before a colon is the name of an exception: `ENOENT`, `app.NotFound`, `TypeError`, not `Failed`. */
function isTypeName(word: string): boolean {
  if (TYPE_ENDING.test(word)) return true;
  const own = word.slice(Math.max(word.lastIndexOf("."), word.lastIndexOf("\\"), word.lastIndexOf(":")) + 1);
  return /^[A-Z]/.test(own) && !LEVELS.test(word) && (own !== word || /^[A-Z]\w*[A-Z]/.test(own));
}
