/** The receivers, each named as in its path. */
export type Platform = "platform-a" | "platform-b" | "stream-a";

/**
 * What a request is, whatever path it came on: a deployment platform's drain, octet-counted syslog frames, a delivery
 * stream's envelope, or JSON and text without an envelope.
 */
export type Dialect = "deployment-drain" | "frames" | "delivery" | "records";

const FRAMES_CONTENT_TYPE = /^application\/(?:x-)?logplex-1\b/i;
/** `74 <174>1 …` */
const FRAMES_START = /^\s*\d{1,9} </;
/** An envelope without its header, as somebody sends it who tries the path out. */
const DELIVERY_START = /^\s*\{[^[{]*"records"\s*:\s*\[\s*(?:\]|\{\s*"data"\s*:\s*")/;

/** Bytes looked at where the headers do not tell. */
const START_BYTES = 1024;

/** What the headers alone say; null when they do not. */
export function dialectOfHeaders(headers: Headers): Dialect | null {
  if (headers.has("x-amz-firehose-request-id") || headers.has("x-amz-firehose-protocol-version"))
    return "delivery";
  if (headers.has("logplex-frame-id") || FRAMES_CONTENT_TYPE.test(headers.get("content-type") ?? ""))
    return "frames";
  if (headers.has("x-vercel-signature")) return "deployment-drain";
  return null;
}

/** What a request is whose headers do not tell, by the beginning of its unpacked body, else by its path. */
export function dialectOfBody(body: Uint8Array, platform: Platform): Dialect {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, START_BYTES)).toString(
    "latin1",
  );
  if (FRAMES_START.test(start)) return "frames";
  if (DELIVERY_START.test(start)) return "delivery";
  if (platform === "platform-a") return "deployment-drain";
  return platform === "platform-b" && !/^\s*[[{]/.test(start) ? "frames" : "records";
}
