import { type ExceptionChain, ExceptionDraft, frameOf, headOf, type StackFrame } from "./frame.ts";
import { CHAIN_MAX } from "./limits.ts";

/** `[loader/][module@version/]package.Class.method(File.java:1)`, maybe with the archive behind. */
const FRAME =
  /^at (?:[\w.$-]*(?:@[\w.+-]+)?\/){0,2}([\w.$<>/-]+?)\.([\w$<>-]+)\(((?:[^()\s:]+\.(?:java|kt|kts|scala|groovy|clj|gvy))(?::(\d+))?|Native Method|Unknown Source|<generated>|[\w$<>]+:\d+|[A-Z]\w*)\)(?: ~?\[.*\])?$/;
const LIBRARY =
  /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|clojure|android|androidx|dalvik|akka|reactor|rx|okhttp3|okio|retrofit2|play|zio|cats|org\.(?:springframework|apache|hibernate|eclipse|junit|postgresql|jboss|slf4j|codehaus|gradle|glassfish|xml|w3c|mockito|aspectj)|io\.(?:netty|grpc|undertow|reactivex|micrometer|quarkus|vertx|ktor|micronaut|opentelemetry|lettuce)|com\.(?:fasterxml|google|mysql|zaxxer|android|mongodb|oracle|microsoft|amazonaws)|software\.amazon|ch\.qos|net\.bytebuddy|brave|feign)\./;
const MORE = /^\.\.\. (\d+) (?:more|common frames omitted)/;

/** A frame of Java, Kotlin or Scala; null for any other line. */
export function javaFrame(line: string): StackFrame | null {
  const found = FRAME.exec(line);
  if (found === null) return null;
  const [, written = "", method = "", place = "", number] = found;
  const isGenerated =
    /\$\$(?:EnhancerBy|FastClassBy|SpringCGLIB|Lambda)|\$Proxy\d|GeneratedMethodAccessor|^jdk\.proxy/.test(
      written,
    );
  return frameOf({
    function: methodName(method),
    module: className(written),
    inApp: !isGenerated && !LIBRARY.test(`${written}.`),
    file: place.replace(/:\d+$/, ""),
    line: number,
  });
}

function className(written: string): string {
  return written
    .replace(/\$\$(?:Lambda|EnhancerBy\w+|FastClassBy\w+|SpringCGLIB).*$/, "")
    .replace(/\/(?:0x)?[0-9a-f]{6,}$/, "")
    .replace(/(?<=\$Proxy|Accessor)\d+/, "")
    .replace(/\$\d+(?=\$|$)/g, "$");
}

function methodName(method: string): string {
  return method
    .replace(/\$\d+(?=\$|$)/g, "")
    .replace(/^lambda\$(?:new\$|static\$)?/, "lambda$")
    .replace(/-\w{7}$/, "");
}

/** Each cause ends where the one around it goes on: its last frames are not written again. */
interface Open {
  readonly draft: ExceptionDraft;
  readonly around: readonly StackFrame[];
}

/** The exception, then `Caused by:` each deeper one; what is `Suppressed:` failed beside it and is no cause. */
export function parseJava(lines: readonly string[]): ExceptionChain {
  const chain: ExceptionDraft[] = [];
  let open: Open | null = null;
  let suppressedIndent = -1;
  for (const written of lines) {
    const line = written.trim();
    const indent = written.length - written.trimStart().length;
    const frame = javaFrame(line);
    if (frame !== null) {
      if (open === null) {
        open = { draft: new ExceptionDraft("", ""), around: [] };
        chain.push(open.draft);
      }
      open.draft.add(frame);
      continue;
    }
    const more = MORE.exec(line)?.[1];
    if (more !== undefined && open !== null) {
      for (const each of lastOf(open.around, Number(more))) open.draft.add(each);
      continue;
    }
    const suppressed = /^Suppressed: /.test(line);
    const cause = /^(?:Caused by|Wrapped by): (?:\[CIRCULAR REFERENCE: )?(.*?)\]?$/.exec(line)?.[1];
    if (suppressed) {
      suppressedIndent = indent;
      open = { draft: new ExceptionDraft("", ""), around: [] };
    } else if (cause !== undefined && suppressedIndent !== -1 && indent >= suppressedIndent) {
      open = { draft: new ExceptionDraft("", ""), around: [] };
    } else if (cause !== undefined) {
      if (chain.length >= CHAIN_MAX) break;
      suppressedIndent = -1;
      const { type, message } = headOf(cause);
      const around: readonly StackFrame[] = chain.at(-1)?.frames ?? [];
      open = { draft: new ExceptionDraft(type, message), around };
      chain.push(open.draft);
    } else if (chain.length === 0 && line !== "") {
      const { type, message } = headOf(line);
      if (type === "") continue;
      open = { draft: new ExceptionDraft(type, message), around: [] };
      chain.push(open.draft);
    }
  }
  return chain.toReversed();
}

function lastOf(frames: readonly StackFrame[], count: number): readonly StackFrame[] {
  return count <= 0 ? [] : frames.slice(-count);
}
