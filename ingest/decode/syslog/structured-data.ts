import { NO_STRUCTURED_DATA, type StructuredValue } from "./syslog-message.ts";

/** Parameters of one message; more of them are a document, and the rest stays in the message. */
const PARAMETERS_MAX_COUNT = 1000;

const ELEMENT_ID = /\[([^\s=\]"]{1,255})/y;
const PARAMETER = / +([^\s=\]"]{1,255})="([^"\\]*(?:\\[\s\S][^"\\]*)*)"/y;
const ELEMENT_END = / *\]/y;
const ESCAPE = /\\(["\\\]])/g;

interface StructuredData {
  readonly values: ReadonlyMap<string, StructuredValue>;
  /** Where the text goes on behind it. */
  readonly end: number;
}

/**
 * The STRUCTURED-DATA of RFC 5424 at a place of a text: `-`, or elements `[id name="value" ...]`. Null when there is
 * none, or none that is whole.
 */
export function readStructuredData(text: string, at: number): StructuredData | null {
  if (text[at] === "-") return { values: NO_STRUCTURED_DATA, end: at + 1 };
  if (text[at] !== "[") return null;
  const values = new Map<string, StructuredValue>();
  let end = at;
  let count = 0;
  while (text[end] === "[") {
    const element = matchAt(ELEMENT_ID, text, end);
    if (element === null) return null;
    const [, id = ""] = element;
    end += element[0].length;
    let parameters = 0;
    for (let found = matchAt(PARAMETER, text, end); found !== null; found = matchAt(PARAMETER, text, end)) {
      const [whole, name = "", value = ""] = found;
      if (++count > PARAMETERS_MAX_COUNT) return null;
      add(values, `${id}.${name}`, value.includes("\\") ? value.replace(ESCAPE, "$1") : value);
      end += whole.length;
      parameters++;
    }
    const close = matchAt(ELEMENT_END, text, end);
    if (close === null) return null;
    end += close[0].length;
    if (parameters === 0) values.set(id, true);
  }
  return { values, end };
}

function add(values: Map<string, StructuredValue>, key: string, value: string): void {
  const earlier = values.get(key);
  if (earlier === undefined || earlier === true) values.set(key, value);
  else values.set(key, typeof earlier === "string" ? [earlier, value] : [...earlier, value]);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
