import { type ExceptionChain, ExceptionDraft, frameOf, headOf, type StackFrame } from "./frame.ts";
import { CHAIN_MAX } from "./limits.ts";
import { moduleOfPath, plainPath } from "./paths.ts";

const LIBRARY =
  /(?:^|\/)(?:node_modules|bower_components|jspm_packages|\.yarn|\.pnpm)\/|^(?:node|bun|deno|ext|internal|native|chrome-extension|moz-extension|safari-extension|safari-web-extension)[:/]|^(?:native|<anonymous>|\[native code\]|index \d+|webpack\/|evalmachine)|^(?:events|fs|net|http|https|timers|stream|module|vm|domain|_\w+|bootstrap_node)\.js$|\/webpack\/(?:bootstrap|runtime)|polyfills?[.-]/;
const LOCATION = /^(.*?)(?::(\d+))?(?::(\d+))?$/s;
/** Columns behind this one are of code that a machine has written. */
const MINIFIED_COLUMN = 300;

/** `at f (file:1:2)` of V8, `f@file:1:2` of Firefox and Safari; null for any other line. */
export function javascriptFrame(line: string): StackFrame | null {
  return line.startsWith("at ") ? v8Frame(line.slice(3)) : geckoFrame(line);
}

function v8Frame(call: string): StackFrame | null {
  const text = call.startsWith("async ") ? call.slice(6) : call;
  const open = text.endsWith(")") ? text.indexOf(" (") : -1;
  if (open === -1) return /:\d+(?::\d+)?$/.test(text) ? jsFrame("", text) : null;
  return jsFrame(text.slice(0, open), text.slice(open + 2, -1));
}

function geckoFrame(line: string): StackFrame | null {
  const at = line.indexOf("@");
  if (at === -1 || /\s/.test(line.slice(0, at).replace(/^(?:global|module|eval|async) ?(?:code)?/, "")))
    return null;
  const place = line.slice(at + 1);
  return place === "[native code]" || /:\d+(?::\d+)?$/.test(place) ? jsFrame(line.slice(0, at), place) : null;
}

function jsFrame(written: string, place: string): StackFrame {
  // Code of an evaluation is known by who evaluates it.
  const evaluated = /\(((?:[^()])+?:\d+:\d+)\)|> eval/.exec(place);
  const [, file = "", line, column] =
    LOCATION.exec(evaluated?.[1] ?? place.replace(/ line \d+ > eval.*/, "")) ?? [];
  const name = functionName(written);
  const isBundled = isMinified(name, file, Number(line ?? 0), Number(column ?? 0));
  const inApp = !LIBRARY.test(plainPath(file)) && !LIBRARY.test(file) && !/^__webpack_/.test(name);
  return frameOf({
    ...{ function: isBundled ? "" : name, module: moduleOfPath(file), inApp, file, line, column },
    isTelling: !isBundled,
  });
}

function functionName(written: string): string {
  return written
    .replace(/ \[as [^\]]*\]$/, "")
    .replace(/^(?:async\*?|global code|module code|eval code|eval$)\s*/, "")
    .replace(/^.*\/(?=[\w$.]+$)/, "")
    .replace(/(?:\/[^/]*)?<.*$/, (rest) => (rest.startsWith("<") && !rest.startsWith("</") ? "" : ""))
    .replace(/^(?:Object|Function|Module|exports|Proxy|window|this)\./, "")
    .replace(/^\?$|\.$/, "")
    .replace(/\$\d+$|_\d+$/, "");
}

/** Names of a letter or two, far out on the first lines of a bundle, change with every build. */
function isMinified(name: string, file: string, line: number, column: number): boolean {
  const own = name.slice(name.lastIndexOf(".") + 1).replace(/^new /, "");
  const isShort = own.length <= 2 || /^[a-z]{1,2}\d?$/i.test(own);
  return isShort && (/\.min\./.test(file) || (line <= 5 && column > MINIFIED_COLUMN));
}

/** `Error: m`, its frames, then `[cause]: Error: m` or `Caused by: Error: m` with its own. */
export function parseJavascript(lines: readonly string[]): ExceptionChain {
  const chain: ExceptionDraft[] = [];
  let draft: ExceptionDraft | null = null;
  for (const written of lines) {
    const line = written.trim().replace(/[{,]$/, "").trim();
    const frame = line === "" ? null : javascriptFrame(line);
    if (frame !== null) {
      if (draft === null) {
        draft = new ExceptionDraft("", "");
        chain.push(draft);
      }
      draft.add(frame);
      continue;
    }
    const cause = /^(?:\[cause\]|Caused by|cause): (.*)$/.exec(line)?.[1];
    if (chain.length >= CHAIN_MAX) break;
    if (cause !== undefined || (draft === null && line !== "")) {
      const { type, message } = headOf(cause ?? line);
      draft = new ExceptionDraft(type, message);
      chain.push(draft);
    } else if (draft !== null && draft.frames.length === 0 && line !== "" && draft.type === "") {
      const { type, message } = headOf(line);
      if (type === "") continue;
      draft = new ExceptionDraft(type, message);
      chain[chain.length - 1] = draft;
    }
  }
  return chain.toReversed();
}
