import { Resolver } from "node:dns/promises";
import { isIPv6 } from "node:net";
import type { Connector } from "../../outbound/connector.ts";
import { CheckFailure } from "../check-failure.ts";
import { isExpectedRecord, type RecordReader, recordReaders } from "../targets/dns-records.ts";
import { type DnsTarget, parseDnsTarget } from "../targets/dns-target.ts";
import type { Check } from "./check-tools.ts";

const QUESTIONS = 3;
/** Below this a resolver waits for less than a round trip. */
const QUESTION_MIN_MS = 250;

/** A resolver knows records of the type, and the one that is expected is among them. */
export const checkDns: Check = async (spec, { connector, findings, scope }) => {
  const target = parseDnsTarget(spec.url);
  if (target === null) throw new CheckFailure("target_invalid");
  // It keeps to its times only roughly; the deadline of the check cancels it.
  const timeout = Math.max(QUESTION_MIN_MS, Math.floor(spec.timeoutMs / QUESTIONS));
  const resolver = new Resolver({ timeout, tries: QUESTIONS });
  if (target.server !== null) resolver.setServers([await serverAddress(target.server, connector)]);
  scope.hold({ destroy: () => resolver.cancel() });
  const startedAt = performance.now();
  const records = await readRecords(recordReaders[target.type], resolver, target.name);
  findings.connected(performance.now() - startedAt, 0);
  const { keyword } = spec;
  if (keyword === null) return;
  const isFound = records.some((record) => isExpectedRecord(target.type, record, keyword));
  if (isFound !== (spec.keywordMatchType === "contains")) throw new CheckFailure("dns_mismatch");
};

async function serverAddress(
  { host, port }: NonNullable<DnsTarget["server"]>,
  connector: Connector,
): Promise<string> {
  const [address = host] = await connector.addressesOf(host);
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

async function readRecords(read: RecordReader, resolver: Resolver, name: string): Promise<readonly string[]> {
  let records: readonly string[];
  try {
    records = await read(resolver, name);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : "";
    if (code === "ETIMEOUT") throw new CheckFailure("timeout", { cause });
    if (code === "ECONNREFUSED") throw new CheckFailure("connection_refused", { cause });
    throw new CheckFailure("dns_no_answer", { cause });
  }
  if (records.length === 0) throw new CheckFailure("dns_no_answer");
  return records;
}
