import { type ExceptionChain, ExceptionDraft, frameOf, headOf, type StackFrame } from "./frame.ts";
import { CHAIN_MAX } from "./limits.ts";
import { moduleOfPath } from "./paths.ts";

const FRAME = /^#\d+ (?:(.+?)\((\d+)\)|\[internal function\]|(\{main\}))(?:: (.*))?$/;
const LIBRARY = /\/vendor\/|\/usr\/share\/php\/|^phar:|\/wp-includes\/|\/wp-admin\//;
const HEAD =
  /^(?:\[[^\]]*\] )?(?:PHP )?(?:Fatal error|Warning|Notice|Recoverable fatal error): +(?:Uncaught )?/;
const IN_FILE = / in (\S+?)(?::| on line )(\d+)$/;

/** `#0 f.php(1): C->m(...)`; null for any other line. */
export function phpFrame(line: string): StackFrame | null {
  const found = FRAME.exec(line);
  if (found === null) return null;
  const [, file, number, main, call = ""] = found;
  const name = (main ?? call.replace(/\(.*$/s, ""))
    .replace(/\{closure.*?\}(?::\d+\})?.*$/s, "{closure}")
    .replace(/class@anonymous.*?(?=->|::|$)/s, "class@anonymous");
  const member = /^(.*)(?:->|::)([^>:]+)$/s.exec(name);
  const inApp = file !== undefined && main === undefined && !LIBRARY.test(file);
  return frameOf({
    function: member?.[2] ?? name,
    module: member?.[1] ?? (file === undefined ? "" : moduleOfPath(file)),
    ...{ inApp, file, line: number },
  });
}

/** The first exception with its frames, then `Next` each that it was wrapped into. */
export function parsePhp(lines: readonly string[]): ExceptionChain {
  const chain: ExceptionDraft[] = [];
  let draft: ExceptionDraft | null = null;
  for (const written of lines) {
    const line = written.trim();
    const frame = phpFrame(line);
    if (frame !== null) {
      if (draft === null) {
        draft = new ExceptionDraft("", "");
        chain.push(draft);
      }
      draft.add(frame);
      continue;
    }
    const next = /^Next (.*)$/.exec(line)?.[1];
    const isHead =
      draft === null && line !== "" && !line.startsWith("Stack trace:") && line !== "[stacktrace]";
    if (next === undefined && !isHead) continue;
    if (chain.length >= CHAIN_MAX) break;
    const { type, message } = headOf((next ?? line).replace(HEAD, ""));
    const place = IN_FILE.exec(message);
    draft = new ExceptionDraft(type, place === null ? message : message.slice(0, place.index));
    chain.push(draft);
    const file = place?.[1];
    if (file !== undefined)
      draft.add(
        frameOf({
          function: "",
          module: moduleOfPath(file),
          inApp: !LIBRARY.test(file),
          file,
          line: place?.[2],
        }),
      );
  }
  return chain;
}
