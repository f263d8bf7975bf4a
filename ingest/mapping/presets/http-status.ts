/**
 * Levels of the status codes that web servers answer with: an access log has no level of its own.
 * Source: the HTTP Status Code registry (RFC 9110, section 16.2), nginx for 499, Cloudflare for 520 to 526.
 */
export const HTTP_STATUS_LEVELS: Readonly<Record<string, string>> = Object.fromEntries([
  ...[400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417].map(warn),
  ...[418, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 499].map(warn),
  ...[500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 521, 522, 523, 524, 525, 526].map(error),
]);

function warn(status: number): [string, string] {
  return [String(status), "warn"];
}

function error(status: number): [string, string] {
  return [String(status), "error"];
}
