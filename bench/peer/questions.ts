import { KNOWN_TRACE_ID, NEEDLE, SPAN_MS } from "./entries.ts";
import type { Question } from "./stores.ts";

const ABSENT = "qxjzkvabsentwyq";

function search(parameters: Readonly<Record<string, string>>): { readonly path: string } {
  return { path: `/api/v1/logs/search?${new URLSearchParams(parameters)}` };
}

function query(text: string, limit?: number): Question["peers"] {
  return { path: "query", parameters: { query: text, ...(limit !== undefined && { limit: String(limit) }) } };
}

/** What is asked of each store over entries whose last time is `endMs`. */
export function questionsOf(endMs: number): Question[] {
  const start = new Date(endMs - SPAN_MS).toISOString();
  const end = new Date(endMs).toISOString();
  return [
    { name: "needle, one hit", ours: search({ q: NEEDLE }), peers: query(NEEDLE, 100) },
    { name: "needle, no hit", ours: search({ q: ABSENT }), peers: query(ABSENT, 100) },
    {
      name: "one trace id in attributes",
      ours: { kql: `logs | where attrs.trace_id == '${KNOWN_TRACE_ID}' | take 100` },
      peers: query(`attrs.trace_id:=${KNOWN_TRACE_ID}`, 100),
    },
    {
      name: "has of one word, newest 100",
      ours: { kql: "logs | where message has 'error' | top 100 by ts" },
      peers: query("error | sort by (_time desc) limit 100"),
    },
    {
      name: "count of a word",
      ours: { kql: "logs | where message has 'error' | count" },
      peers: query("error | stats count() n"),
    },
    { name: "newest 100 errors", ours: search({ level: "error" }), peers: query("level:=error", 100) },
    {
      name: "phrase, newest 100",
      ours: search({ q: '"authentication failure"' }),
      peers: query('"authentication failure"', 100),
    },
    {
      name: "histogram of 10 minutes by level",
      ours: {
        path: `/api/v1/logs/histogram?${new URLSearchParams({ from: start, to: end, bucketSec: "600", groupBy: "level" })}`,
      },
      peers: { path: "hits", parameters: { query: "*", start, end, step: "10m", field: "level" } },
    },
    {
      name: "p95 of an attribute by service and level",
      ours: { kql: "logs | summarize percentile(todouble(attrs.duration_ms), 95) by service, level" },
      peers: query("* | stats by (service, level) quantile(0.95, attrs.duration_ms) p"),
    },
    {
      name: "top 10 hosts of status 500",
      ours: {
        kql: "logs | where attrs.status == 500 | summarize n = count() by host = tostring(attrs.host) | top 10 by n",
      },
      peers: query("attrs.status:=500 | stats by (attrs.host) count() n | sort by (n desc) limit 10"),
    },
    {
      name: "top 10 of an attribute",
      ours: { kql: "logs | summarize n = count() by user = tostring(attrs.user_id) | top 10 by n" },
      peers: query("* | stats by (attrs.user_id) count() n | sort by (n desc) limit 10"),
    },
  ];
}

/**
 * What was measured beside VictoriaLogs with 2 M of these entries on two quiet cores, where the peer is not at hand:
 * medians in ms, after a minute of rest. `scanMs` is not known of that machine: the runs that follow have their own.
 */
export const RECORDED_PEER: Readonly<Record<string, number>> = {
  "needle, one hit": 3.1,
  "needle, no hit": 0.6,
  "one trace id in attributes": 0.5,
  "count of a word": 25,
  "newest 100 errors": 24,
  "phrase, newest 100": 54,
  "histogram of 10 minutes by level": 40,
  "p95 of an attribute by service and level": 179,
  "top 10 hosts of status 500": 26,
  "stored rows/s": 256_000,
  "rows per CPU-second": 146_000,
  "bytes on disk a row": 45.5,
  "memory at rest, MiB": 93,
};
