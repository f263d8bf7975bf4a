import { createRequire } from "node:module";

/** What the official parser of the language has against a query text: its code, its message and the place. */
export interface KustoProblem {
  readonly code: string;
  readonly message: string;
  readonly start: number;
}

interface DotNetList {
  readonly Count: number;
  getItem(index: number): unknown;
}

/** The official parser (Kusto.Language, MIT); null where the package is not installed. */
export function loadKustoParser(): ((text: string) => KustoProblem[]) | null {
  const require = createRequire(import.meta.url);
  let folder: string;
  try {
    folder = require.resolve("@kusto/language-service-next/package.json").replace(/package\.json$/, "");
  } catch {
    return null;
  }
  // Scripts for a page: they define globals.
  require(`${folder}bridge.min.js`);
  require(`${folder}Kusto.Language.Bridge.min.js`);
  const parse = member(member(member(member(globalThis, "Kusto"), "Language"), "KustoCode"), "Parse");
  if (typeof parse !== "function") throw new Error("the package has no parser");
  return (text) => {
    const code: unknown = parse(text);
    const diagnostics = member(code, "GetSyntaxDiagnostics");
    if (typeof diagnostics !== "function") throw new Error("the parser has no diagnostics");
    return readList(diagnostics.call(code));
  };
}

function readList(list: DotNetList): KustoProblem[] {
  return Array.from({ length: list.Count }, (_, i) => {
    const problem = list.getItem(i);
    return {
      code: String(member(problem, "Code")),
      message: String(member(problem, "Message")),
      start: Number(member(problem, "Start")),
    };
  });
}

function member(value: unknown, name: string): unknown {
  const isHolder = (typeof value === "object" && value !== null) || typeof value === "function";
  return isHolder ? Reflect.get(value, name) : undefined;
}
