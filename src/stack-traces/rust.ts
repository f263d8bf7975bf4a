import { type ExceptionChain, ExceptionDraft, frameOf, type StackFrame } from "./frame.ts";

const FRAME = /^\d+:\s+(?:0x[0-9a-f]+ - )?(\S.*)$/;
const PLACE = /^at (.+?):(\d+)(?::(\d+))?$/;
const PANIC = /thread '[^']*'(?: \(\d+\))? panicked at (?:'(.*)', )?(?:(\S+):(\d+):(\d+):?)?(.*)$/s;
const LIBRARY =
  /^<?&?(?:dyn |mut )*(?:std|core|alloc|rust_begin_unwind|__rust\w*|tokio|futures\w*|hyper\w*|actix\w*|axum\w*|tower\w*|anyhow|backtrace|rayon\w*|mio|reqwest|sqlx\w*|diesel|serde\w*|tracing\w*|log|_?main|_start\w*|__libc\w*|start_thread|clone3?|BaseThreadInitThunk|RtlUserThreadStart|__GI_\w+|__pthread\w*)(?:$|::| as )/;

/** `3: app::run::h0123456789abcdef`; null for any other line. */
export function rustFrame(line: string, place: RegExpExecArray | null = null): StackFrame | null {
  const written = FRAME.exec(line)?.[1];
  if (written === undefined || !/^[\w<{&_][^\s]*(?: as [^\s]+)?(?:[^\s]*)$/.test(written)) return null;
  const name = written
    .replace(/::h[0-9a-f]{16}$/, "")
    .replace(/\[[0-9a-f]{8,16}\]/g, "")
    .replace(/\{\{closure\}\}|\{closure#\d+\}|\{closure_env#\d+\}/g, "{closure}")
    .replace(/\{(?:impl|shim|vtable\.shim)#\d+\}/g, "{impl}");
  const file = place?.[1];
  const isLibraryFile =
    file !== undefined && /^\/rustc\/|\/\.cargo\/(?:registry|git)\/|\/rustlib\//.test(file);
  const inApp = !LIBRARY.test(name) && !isLibraryFile;
  return frameOf({ function: name, module: "", inApp, file, line: place?.[2], column: place?.[3] });
}

/** The panic and its backtrace; places stand a line below their calls. */
export function parseRust(lines: readonly string[]): ExceptionChain {
  let draft = new ExceptionDraft("", "");
  let isMessageNext = false;
  for (const [i, written] of lines.entries()) {
    const line = written.trim();
    const panic = PANIC.exec(line);
    if (panic !== null) {
      if (draft.frames.length > 0) break;
      draft = new ExceptionDraft("panic", panic[1] ?? panic[5] ?? "");
      isMessageNext = draft.message.trim() === "";
      continue;
    }
    if (isMessageNext) {
      draft.message = line;
      isMessageNext = false;
      continue;
    }
    const frame = rustFrame(line, PLACE.exec(lines[i + 1]?.trim() ?? ""));
    if (frame !== null) draft.add(frame);
    else if (draft.type === "" && draft.message === "" && line !== "" && !PLACE.test(line))
      draft.message = line.replace(/^Error: /, "");
  }
  return draft.frames.length === 0 ? [] : [draft];
}
