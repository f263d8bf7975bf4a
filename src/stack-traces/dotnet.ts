import { type ExceptionChain, ExceptionDraft, frameOf, headOf, type StackFrame } from "./frame.ts";
import { CHAIN_MAX } from "./limits.ts";

const FRAME =
  /^at ((?:[\w.<>`+$|@[\],~]|, )+?)(?:\[[^\]]*\])?\(([^()]*(?:\([^()]*\)[^()]*)*)\)(?: in (.+?)(?::line (\d+))?| \[0x[0-9a-f]+\] in <[^>]*>:\d+)?$/;
const LIBRARY =
  /^(?:System|Microsoft|Newtonsoft|Npgsql|MySql|MySqlConnector|Dapper|MediatR|Polly|NUnit|Xunit|Grpc|Serilog|NLog|log4net|AutoMapper|FluentValidation|MassTransit|StackExchange|RabbitMQ|Confluent|Azure|Amazon|Google|Castle|Autofac|Hangfire|Quartz|Orleans|Akka|Refit|RestSharp|MongoDB|Elasticsearch|Swashbuckle|Moq|OpenTelemetry|MongoDB|lambda_method\d*)(?:\.|$)/;

/** A frame of .NET; null for any other line. */
export function dotnetFrame(line: string): StackFrame | null {
  const found = FRAME.exec(line);
  if (found === null) return null;
  const [, written = "", , file, number] = found;
  const dot = written.replace(/\.\.c?ctor$/, (end) => "_".repeat(end.length)).lastIndexOf(".");
  // A class of the compiler holds what is left of a method that waits, or a nameless function.
  const compiled = /[.+](?:<>c(?:__DisplayClass[\d_]+)?[.+])?<(\w+)>([a-z])__[\d_|A-Za-z]*/.exec(written);
  const local = /g__(\w+)\|/.exec(written)?.[1];
  const owner = (compiled === null ? written.slice(0, Math.max(dot, 0)) : written.slice(0, compiled.index))
    .replace(/[.+]<>c.*$/, "")
    .replace(/`\d+|\[[^\]]*\]/g, "");
  const method = written.slice(dot + 1);
  const plain = compiled === null ? method : `${compiled[1] ?? ""}${compiled[2] === "b" ? ".lambda" : ""}`;
  return frameOf({
    function: (local ?? plain).replace(/`\d+|\[[^\]]*\]/g, "").replace(/^lambda_method\d+/, "lambda_method"),
    module: owner,
    inApp: !LIBRARY.test(written),
    ...{ file, line: number },
  });
}

/**
 * `A: m ---> B: m`, the frames of B, `--- End of inner exception stack trace ---`, the frames of A: the deepest comes first
 * with its frames, the outermost last.
 */
export function parseDotnet(lines: readonly string[]): ExceptionChain {
  const heads: ExceptionDraft[] = [];
  let current = -1;
  for (const written of lines) {
    const line = written.trim();
    const frame = dotnetFrame(line);
    if (frame !== null) {
      if (heads.length === 0) heads.push(new ExceptionDraft("", ""));
      if (current === -1) current = heads.length - 1;
      heads[current]?.add(frame);
      continue;
    }
    if (line.startsWith("--- End of inner exception")) {
      current = Math.max(0, current - 1);
      if (current === 0 && heads.length === 0) current = -1;
      continue;
    }
    if (line === "" || line.startsWith("--- ")) continue;
    if (/^---> \(Inner Exception #[1-9]/.test(line)) break;
    const parts = line
      .replace(/^Unhandled exception\.\s*/i, "")
      .split(/(?:^| )---> (?:\(Inner Exception #0\) )?/);
    for (const part of parts) {
      if (part === "" || heads.length >= CHAIN_MAX) continue;
      const { type, message } = headOf(part);
      if (type === "" && heads.length > 0) continue;
      // An aggregate writes its first inner exception once more.
      if (current !== -1) continue;
      heads.push(new ExceptionDraft(type, message));
    }
  }
  return heads.toReversed();
}
