import { isIP } from "node:net";
import { resolve } from "node:path";
import { parseSecretKey } from "../access/secret-box.ts";

/** What the text of a setting can be. */
export interface ValueType<T> {
  /** As the documentation and refusals say it. */
  readonly accepts: string;
  /** Throws `ValueProblem` for a text that is not acceptable. */
  readonly read: (text: string) => T;
}

/** Why a value is refused, to be put behind the name of the setting: "is not a number". */
export class ValueProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "ValueProblem";
  }
}

export function integer(min: number, max: number): ValueType<number> {
  return {
    accepts: `${min} to ${max}`,
    read: (text) => {
      if (!/^\d{1,16}$/.test(text)) throw new ValueProblem("is not a whole number");
      const value = Number(text);
      if (value < min || value > max) throw new ValueProblem("is out of range");
      return value;
    },
  };
}

/** The beginning of a day in UTC, milliseconds since 1970. */
export const day: ValueType<number> = {
  accepts: "a day, `YYYY-MM-DD`",
  read: (text) => {
    const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isFinite(ms) || new Date(ms).toISOString().slice(0, 10) !== text)
      throw new ValueProblem("is not a day");
    return ms;
  },
};

export const MIB = 2 ** 20;
const BYTE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  KiB: 2 ** 10,
  MiB: MIB,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** A number of bytes, also with the unit KiB, MiB, GiB or TiB. */
export function bytes(min: number): ValueType<number> {
  const range = min < MIB ? "" : `; at least ${min / MIB}MiB`;
  return {
    accepts: `a number of bytes, with or without KiB, MiB, GiB or TiB${range}`,
    read: (text) => {
      const [, digits, unit = ""] = /^(\d{1,16}) ?([A-Za-z]*)$/.exec(text) ?? [];
      const factor = BYTE_UNITS[unit];
      if (digits === undefined || factor === undefined) throw new ValueProblem("is not a number of bytes");
      const value = Number(digits) * factor;
      if (value < min || value > Number.MAX_SAFE_INTEGER) throw new ValueProblem("is out of range");
      return value;
    },
  };
}

export function oneOf<const T extends string>(values: readonly T[]): ValueType<T> {
  return {
    accepts: `one of ${values.join(", ")}`,
    read: (text) => {
      const found = values.find((value) => value === text);
      if (found === undefined) throw new ValueProblem("is not a known value");
      return found;
    },
  };
}

export function isHostName(text: string): boolean {
  return /^(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/.test(text) && /[A-Za-z]/.test(text);
}

/** An address or host name to listen on, without port. */
export const hostName: ValueType<string> = {
  accepts: "an address or a host name",
  read: (text) => {
    if (isIP(text) === 0 && !isHostName(text))
      throw new ValueProblem("is neither an address nor a host name");
    return text;
  },
};

export const path: ValueType<string> = {
  accepts: "a path",
  read: (text) => {
    if (text.includes("\0")) throw new ValueProblem("is not a path");
    return resolve(text);
  },
};

function parseUrl(text: string, schemes: readonly string[]): URL {
  if (!URL.canParse(text)) throw new ValueProblem("is not a URL");
  const url = new URL(text);
  if (!schemes.includes(url.protocol.slice(0, -1))) throw new ValueProblem("has another scheme");
  if (url.hostname === "") throw new ValueProblem("has no host");
  if (url.hash !== "") throw new ValueProblem("has a fragment");
  return url;
}

/** An http(s) address without path; the result has no trailing slash. */
export const httpOrigin: ValueType<string> = {
  accepts: "an http or https address without a path",
  read: (text) => {
    const url = parseUrl(text, ["http", "https"]);
    if (url.pathname !== "/" || url.search !== "") throw new ValueProblem("has a path or a query");
    if (url.username !== "" || url.password !== "") throw new ValueProblem("holds credentials");
    return url.origin;
  },
};

/** An http(s) address of the operator's that requests are sent to; what it is opened by may stand in its query. */
export const gatewayUrl: ValueType<string> = {
  accepts: "an http or https address",
  read: (text) => {
    const url = parseUrl(text, ["http", "https"]);
    if (url.username !== "" || url.password !== "") throw new ValueProblem("holds credentials");
    return url.href;
  },
};

/** A store's URL as it was written, credentials included. */
export function storeUrl(schemes: readonly string[], accepts: string): ValueType<string> {
  return {
    accepts,
    read: (text) => {
      parseUrl(text, schemes);
      return text;
    },
  };
}

/** `http(s)://user:password@host:port/database`. */
export const clickhouseUrl: ValueType<string> = {
  accepts: "`http(s)://user:password@host:port/database`",
  read: (text) => {
    const url = parseUrl(text, ["http", "https"]);
    if (url.search !== "") throw new ValueProblem("has a query");
    if (!/^\/?([A-Za-z_][A-Za-z0-9_]*)?\/?$/.test(url.pathname))
      throw new ValueProblem("names no plain database");
    return text;
  },
};

function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Addresses and CIDRs, separated by commas. */
export const networks: ValueType<readonly string[]> = {
  accepts: "addresses and CIDRs, separated by commas",
  read: (text) => {
    const entries = text.split(",").map((entry) => entry.trim());
    for (const entry of entries) {
      if (!isNetwork(entry))
        throw new ValueProblem(
          `has an entry that is neither an address nor a CIDR: ${JSON.stringify(entry)}`,
        );
    }
    return entries;
  },
};

/** A key of 32 bytes in base64 or hexadecimal. */
export const secretKey: ValueType<Uint8Array> = {
  accepts: "32 bytes in base64 or hexadecimal",
  read: (text) => {
    const key = parseSecretKey(text);
    if (key === null) throw new ValueProblem("is not a key of 32 bytes");
    return key;
  },
};

/** A name in one line. */
export const plainName: ValueType<string> = {
  accepts: "1 to 64 characters",
  read: (text) => {
    if (!/^[^\p{Cc}]{1,64}$/u.test(text)) throw new ValueProblem("is not a name of 1 to 64 characters");
    return text;
  },
};

/** An SMTP server's URL as it was written, credentials included. */
export const mailServerUrl: ValueType<string> = {
  accepts: "`smtp://` or `smtps://` with user, password, host and port",
  read: (text) => {
    const { username, password, pathname, search } = parseUrl(text, ["smtp", "smtps"]);
    if (pathname.replace("/", "") !== "" || search !== "") throw new ValueProblem("has a path or a query");
    try {
      decodeURIComponent(username + password);
    } catch {
      throw new ValueProblem("has a percent sign that encodes nothing");
    }
    return text;
  },
};

/** The sender of mails: an address, or a name and one; for a header, so in one line and without quotes to misread. */
export const mailSender: ValueType<string> = {
  accepts: "`name@host` or `Name <name@host>`",
  read: (text) => {
    const address = '[^\\s\\p{Cc}<>()\\[\\],;:\\\\"@]+@(?:[\\p{L}\\p{N}.-]+|\\[[0-9A-Za-z.:]+\\])';
    const pattern = new RegExp(`^(?:${address}|[^\\p{Cc}<>"\\\\,;:@()]{1,100} <${address}>)$`, "u");
    if (text.length > 320 || !pattern.test(text))
      throw new ValueProblem("is neither an address nor a name with an address in angle brackets");
    return text;
  },
};

/** Yes or no. */
export const flag: ValueType<boolean> = {
  accepts: "0 or 1",
  read: (text) => {
    if (text !== "0" && text !== "1") throw new ValueProblem("is neither 0 nor 1");
    return text === "1";
  },
};

/** Host names, addresses and CIDRs, separated by commas. */
export const outboundTargets: ValueType<readonly string[]> = {
  accepts: "host names, addresses and CIDRs, separated by commas",
  read: (text) => {
    const entries = text.split(",").map((entry) => entry.trim());
    for (const entry of entries) {
      if (!isNetwork(entry) && !isHostName(entry))
        throw new ValueProblem(
          `has an entry that is neither a host name nor an address nor a CIDR: ${JSON.stringify(entry)}`,
        );
    }
    return entries;
  },
};

/** The address by which an OpenID provider calls itself, as it was written. */
export const issuer: ValueType<string> = {
  accepts: "an http or https address",
  read: (text) => {
    const url = parseUrl(text, ["http", "https"]);
    if (url.search !== "") throw new ValueProblem("has a query");
    if (url.username !== "" || url.password !== "") throw new ValueProblem("has credentials");
    return text;
  },
};

export const clientId: ValueType<string> = {
  accepts: "1 to 255 characters",
  read: (text) => {
    if (!/^[^\p{Cc}]{1,255}$/u.test(text)) throw new ValueProblem("is not of 1 to 255 characters");
    return text;
  },
};

export const clientSecret: ValueType<string> = {
  accepts: "1 to 1024 characters",
  read: (text) => {
    if (!/^[^\p{Cc}]{1,1024}$/u.test(text)) throw new ValueProblem("is not of 1 to 1024 characters");
    return text;
  },
};

/** The address of a bucket, with or without a prefix; the result ends with a slash. */
export const bucketUrl: ValueType<string> = {
  accepts: "`https://HOST/BUCKET/` or `https://HOST/BUCKET/PREFIX/`",
  read: (text) => {
    const url = parseUrl(text, ["http", "https"]);
    if (url.search !== "") throw new ValueProblem("has a query");
    if (url.username !== "" || url.password !== "") throw new ValueProblem("holds credentials");
    // ClickHouse takes anything else for a pattern, or would have to unescape it.
    if (!/^(?:\/[A-Za-z0-9._-]+)+\/?$/.test(url.pathname)) throw new ValueProblem("names no plain bucket");
    return `${url.origin}${url.pathname.replace(/\/?$/, "/")}`;
  },
};

/** A key of an object store, or its id. */
export const accessKey: ValueType<string> = {
  accepts: "1 to 256 visible characters",
  read: (text) => {
    if (!/^[\x21-\x7e]{1,256}$/.test(text))
      throw new ValueProblem("is not a key of 1 to 256 visible characters");
    return text;
  },
};
