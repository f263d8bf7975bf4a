import { type ExceptionChain, ExceptionDraft, frameOf, type StackFrame } from "./frame.ts";
import { moduleOfPath } from "./paths.ts";

const PLACE = /^(.+\.(?:go|s)):(\d+)(?: \+0x[0-9a-f]+)?$/;
const CALL =
  /^(?:created by )?([\w./~%@·-]+(?:\.\(\*?[\w[\].,·]+\))?[\w./~%*()[\]{}·,-]*?)(?:\([^()]*(?:\{[^}]*\})?[^()]*\)|\(\.\.\.\))?(?: in goroutine \d+)?$/;
const STANDARD =
  /^(?:archive|bufio|builtin|bytes|cmp|compress|container|context|crypto|database|debug|encoding|errors|expvar|flag|fmt|go|hash|html|image|index|internal|io|iter|log|maps|math|mime|net|os|path|plugin|reflect|regexp|runtime|slices|sort|strconv|strings|sync|syscall|testing|text|time|unicode|unique|unsafe|vendor|panic|golang\.org\/x)(?:[/.]|$)/;
const LIBRARY_FILE =
  /\/pkg\/mod\/|\/vendor\/|@v\d|\/go\/src\/(?:runtime|net|testing)\/|^\/usr\/(?:local|lib)\/go|\/libexec\/src\/|_testmain\.go$/;

/** A place of Go, which stands a line below its call; null for any other line. */
export function goPlace(line: string): { readonly file: string; readonly line: string } | null {
  const found = PLACE.exec(line);
  return found === null ? null : { file: found[1] ?? "", line: found[2] ?? "" };
}

function goFrame(call: string, place: { readonly file: string; readonly line: string }): StackFrame | null {
  const written = CALL.exec(call)?.[1];
  if (written === undefined) return null;
  const slash = written.lastIndexOf("/");
  const dot = written.indexOf(".", slash + 1);
  const inside = dot === -1 ? "" : written.slice(0, dot).replaceAll("%2e", ".");
  const name = (dot === -1 ? written : written.slice(dot + 1))
    .replace(/\[[^\]]*\]/g, "")
    .replace(/(?:[.-](?:func|gowrap|deferwrap|range)?\d+)+/g, ".func")
    .replace(/^glob\.\./, "");
  const inApp = !STANDARD.test(inside === "" ? name : inside) && !LIBRARY_FILE.test(place.file);
  return frameOf({
    function: name,
    module: inside === "" ? moduleOfPath(place.file) : inside.replace(/@v[^/]*/, ""),
    ...{ inApp, file: place.file, line: place.line },
  });
}

/** What is behind the words of the runtime that changes with each event: an index, an address. */
function panicType(message: string): string {
  const text = message.replace(/ \[recovered\].*$/, "");
  if (!text.startsWith("runtime error: ")) return "panic";
  return text
    .replace(/ \[.*$|: .*$/, (rest) => (rest.startsWith(": ") ? rest.replace(/(: [a-z ]+).*/s, "$1") : ""))
    .trim();
}

/** The goroutine that panicked, the first one; or calls with their places in any text, as wrapped errors print them. */
export function parseGo(lines: readonly string[]): ExceptionChain {
  let draft = new ExceptionDraft("", "");
  let goroutines = 0;
  let call = "";
  for (const written of lines) {
    const line = written.trim();
    const head = /^(?:\S+ )*?(panic|fatal error): (.*)$/.exec(line);
    if (
      head !== null &&
      draft.frames.length === 0 &&
      (draft.type === "" || /\[recovered/.test(draft.message))
    ) {
      const [, kind = "", message = ""] = head;
      draft = new ExceptionDraft(kind === "panic" ? panicType(message) : kind, message);
    } else if (/^goroutine \d+ \[/.test(line)) {
      if (++goroutines > 1 && draft.frames.length > 0) break;
    } else {
      const place = goPlace(line);
      const frame = place === null ? null : goFrame(call, place);
      if (frame !== null && !call.startsWith("created by ")) draft.add(frame);
      else if (draft.type === "" && draft.message === "" && place === null) draft.message = line;
    }
    call = line;
  }
  return draft.frames.length === 0 ? [] : [fromPanic(draft)];
}

/** What runs above the panic is the runtime that reports it. */
function fromPanic(draft: ExceptionDraft): ExceptionDraft {
  const reported = draft.frames.findLastIndex(
    ({ function: name, module }) => name === "panic" || (module === "runtime" && name === "gopanic"),
  );
  draft.frames.splice(0, reported + 1);
  return draft;
}
