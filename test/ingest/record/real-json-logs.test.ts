/** Recorded events of security products and clouds, where the shared data is present. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ElasticsearchBulk } from "../../../ingest/decode/elasticsearch-bulk/elasticsearch-bulk.ts";
import { decodeRequest, RECEIVED_AT_MS } from "../decode/decoded-entries.ts";

const DATA = join(import.meta.dir, "../../../../shared/data/security");
const FILES = existsSync(DATA) ? readdirSync(DATA).filter((name) => /\.(nd)?json$/.test(name)) : [];
/** Events of one file that are read. */
const EVENTS_MAX = 2_000;
/** Milliseconds between the year 2000 and the time of receipt: no event may seem to be from outside. */
const EARLIEST = BigInt(Date.UTC(2000, 0)) * 1_000_000n;

describe.skipIf(FILES.length === 0)("recorded events of", () => {
  test.each(FILES)("%s become entries with their own time, message and host", (file) => {
    const events = readFileSync(join(DATA, file), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .slice(0, EVENTS_MAX);
    const bulk = new ElasticsearchBulk("events");
    const { entries } = decodeRequest(bulk, events.map((event) => `{"create":{}}\n${event}\n`).join(""));
    expect(bulk.items.filter(({ refusal }) => refusal !== null)).toEqual([]);
    expect(entries).toHaveLength(events.length);
    for (const [position, event] of events.entries()) {
      const fields: Record<string, unknown> = JSON.parse(event);
      const { ts = 0n, message = "", host } = entries[position] ?? {};
      const time = fields["@timestamp"] ?? fields.TimeGenerated;
      if (typeof time === "string") expect(ts / 1_000_000n).toBe(BigInt(Date.parse(time)));
      expect(ts).toBeGreaterThan(EARLIEST);
      expect(ts).toBeLessThanOrEqual(BigInt(RECEIVED_AT_MS) * 1_000_000n);
      const said = fields.Message ?? fields.message ?? fields.SyslogMessage;
      if (typeof said === "string")
        expect(message).toBe([...said.replace(/\r?\n$/, "")].slice(0, 8192).join(""));
      else expect(message.startsWith("{")).toBe(true);
      if (typeof fields.Hostname === "string") expect(host).toBe(fields.Hostname);
    }
  });
});
