import { type ExceptionChain, ExceptionDraft, frameOf, headOf, type StackFrame } from "./frame.ts";
import { CHAIN_MAX } from "./limits.ts";
import { moduleOfPath } from "./paths.ts";

const FRAME = /^(?:from )?((?:[^\s:]|:(?!\d))+?):(\d+):in [`'](.+?)'(?::? (.*))?$/;
const LIBRARY =
  /\/gems\/|\/lib\/ruby\/|^<internal:|\/\.bundle\/|\/vendor\/bundle\/|^\(eval|\/bin\/(?:bundle|rails|rake|puma|rspec|irb)|\/rubies\//;

/** `f.rb:1:in 'g'`; null for any other line. */
export function rubyFrame(line: string): StackFrame | null {
  return split(line)?.frame ?? null;
}

function split(line: string): { readonly frame: StackFrame; readonly rest: string } | null {
  const found = FRAME.exec(line.replace(/^\d+: /, ""));
  if (found === null) return null;
  const [, file = "", number, name = "", rest = ""] = found;
  if (!/\.(?:rb|rake|ru|erb|haml|slim|jbuilder)$|^<internal|\/bin\/|^\(|\/exe\//.test(file)) return null;
  const own = name
    .replace(/^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+/, "block in ")
    .replace(/(^|block in )(?:[\w:]+[#.])(?=\S)/, "$1")
    .replace(/_{1,2}\d{4,}(?:_\d+)*/g, "");
  const frame = frameOf({
    function: own,
    module: moduleOfPath(file),
    inApp: !LIBRARY.test(file),
    file,
    line: number,
  });
  return { frame, rest };
}

/** `f.rb:1:in 'g': message (Type)` and its callers; a cause follows whole. */
export function parseRuby(lines: readonly string[]): ExceptionChain {
  const chain: ExceptionDraft[] = [];
  let draft: ExceptionDraft | null = null;
  for (const written of lines) {
    const line = written.trim();
    const found = split(line);
    if (found === null) {
      if (draft === null && line !== "" && !line.startsWith("Traceback")) {
        const parenthesised = /^(.*) \(([A-Z][\w:]*)\)(?::(.*))?$/.exec(line);
        const { type, message } = headOf(line);
        draft =
          parenthesised === null
            ? new ExceptionDraft(type, message)
            : new ExceptionDraft(parenthesised[2] ?? "", parenthesised[1] ?? "");
        chain.push(draft);
      }
      continue;
    }
    const headed = /^(.*?)\s*\(([A-Z][\w:]*)\)$/.exec(found.rest);
    if (headed !== null && chain.length < CHAIN_MAX) {
      draft = new ExceptionDraft(headed[2] ?? "", headed[1] ?? "");
      chain.push(draft);
    } else if (draft === null) {
      draft = new ExceptionDraft("", found.rest);
      chain.push(draft);
    }
    draft?.add(found.frame);
  }
  return chain.toReversed();
}
