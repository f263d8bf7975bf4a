import type { Level } from "../../log-batch.ts";
import { ATTRIBUTE, type Reading } from "../reading.ts";

const REQUEST_LINE = /^([A-Z][A-Z-]{1,31}) (\S.*?)(?: (?:HTTP|http)\/(\d(?:\.\d)?))?$/;
const ABSOLUTE = /^(\w+):\/\/([^/?#:]+)(?::(\d+))?(.*)$/;

/** The level of an answer by its status code, which is all that an access log says of it. */
export function levelOfStatus(status: number): Level {
  if (status >= 500) return "error";
  return status >= 400 ? "warn" : "info";
}

/** Writes a request and its answer: attributes, the level by the status, and the message `GET /cart?step=2 502`. */
export function writeRequest(reading: Reading, request: string, status: string | undefined): void {
  const [, method, target = "", version] = REQUEST_LINE.exec(request) ?? [];
  const code = Number(status);
  const hasStatus = status !== undefined && Number.isInteger(code) && code >= 100 && code <= 999;
  if (method !== undefined) {
    reading.set(ATTRIBUTE.method, method);
    writeTarget(reading, target);
    reading.set(ATTRIBUTE.protocolVersion, version);
  }
  if (hasStatus) {
    reading.attributes.set(ATTRIBUTE.status, code);
    reading.level = levelOfStatus(code);
  }
  const said = method === undefined ? request : `${method} ${target}`;
  reading.message = hasStatus ? `${said} ${code}`.trimStart() : said;
}

function writeTarget(reading: Reading, target: string): void {
  const [, scheme, host, port, rest] = ABSOLUTE.exec(target) ?? [];
  const local = rest === undefined ? target : rest;
  const queryAt = local.indexOf("?");
  reading.set(ATTRIBUTE.path, queryAt < 0 ? local : local.slice(0, queryAt));
  if (queryAt >= 0) reading.set(ATTRIBUTE.query, local.slice(queryAt + 1));
  reading.set(ATTRIBUTE.scheme, scheme);
  reading.set(ATTRIBUTE.serverAddress, host);
  reading.setNumber(ATTRIBUTE.serverPort, port);
}

/** An address and its port, `203.0.113.9:41234` or `[2001:db8::1]:41234`. */
export function writeClient(reading: Reading, text: string | undefined): void {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text ?? "") ?? [];
  reading.set(ATTRIBUTE.clientAddress, bracketed ?? plain ?? text);
  reading.setNumber(ATTRIBUTE.clientPort, port);
}
