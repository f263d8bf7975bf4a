import { type ExceptionChain, ExceptionDraft, frameOf, type StackFrame } from "./frame.ts";

const FRAME = /^(?:\(([\w.]+)(?: ([\w.+-]+))?\) )?((?:[\w./-]+)\.(?:ex|exs|erl|eex|heex)):(\d+): (.+)$/;
const LIBRARY =
  /^(?:elixir|stdlib|kernel|erts|mix|ex_unit|iex|logger|phoenix\w*|plug\w*|ecto\w*|db_connection|cowboy|bandit|thousand_island|postgrex|myxql|jason|tesla|finch|mint|oban|absinthe\w*|telemetry\w*|gettext|broadway|gen_stage)$/;

/** `(app 1.0.0) lib/f.ex:1: M.f/2`; null for any other line. */
export function elixirFrame(line: string): StackFrame | null {
  const found = FRAME.exec(line);
  if (found === null) return null;
  const [, app = "", , file = "", number, call = ""] = found;
  const name = call
    .replace(/^anonymous fn\/\d+ in /, "fn in ")
    .replace(/-fun-\d+-/g, "fun")
    .replace(/\(.*\)$/, "");
  const inApp = !LIBRARY.test(app) && !/(?:^|\/)deps\//.test(file) && !/\.erl$/.test(file);
  return frameOf({ function: name, module: "", inApp, file, line: number });
}

/** `** (Type) message`, then its frames. */
export function parseElixir(lines: readonly string[]): ExceptionChain {
  let draft = new ExceptionDraft("", "");
  for (const written of lines) {
    const line = written.trim();
    const head = /\*\* \(([A-Z][\w.]*)\) ?(.*)$/.exec(line);
    const frame = head === null ? elixirFrame(line) : null;
    if (frame !== null) draft.add(frame);
    else if (head !== null && draft.frames.length === 0)
      draft = new ExceptionDraft(head[1] ?? "", head[2] ?? "");
    else if (head !== null) break;
  }
  return draft.frames.length === 0 ? [] : [draft];
}
