import { describe, expect, test } from "bun:test";
import type { Mapping } from "../../../ingest/mapping/mapping.ts";
import { type Preview, previewBody } from "../../../ingest/mapping/preview.ts";
import { sourceDecoder, sourceRecordDecoder } from "../../../ingest/mapping/source-decoder.ts";
import { mappingIssues } from "../../../ingest/mapping/validate-mapping.ts";

const now = (): number => Date.parse("2026-03-04T12:00:00Z");
const LINES = `2026-03-04 10:15:30,123 ERROR [main] a.b.Ledger: cannot open
java.io.IOException: no such file
\tat a.b.Ledger.open(Ledger.java:42)
Mar  4 10:15:31 web-1 billing[12]: level=warn msg=slow ms=812
nothing is known of this
`;

function decode(mapping: Mapping, body = LINES, learning = false): Preview[] {
  return previewBody(sourceDecoder({ format: "text", mapping, learning, now }), Buffer.from(body));
}

function entriesOf(mapping: Mapping, body?: string): Record<string, unknown>[] {
  return decode(mapping, body).map(({ entry }) => {
    const { event_id: _, ...fields } = entry ?? {};
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  });
}

const STACK = "cannot open\njava.io.IOException: no such file\n\tat a.b.Ledger.open(Ledger.java:42)";

describe("a source of text", () => {
  test("recognises its lines", () => {
    expect(entriesOf({})).toEqual([
      {
        ts: "2026-03-04T10:15:30.123Z",
        level: "error",
        message: STACK,
        attrs: { "thread.name": "main", logger: "a.b.Ledger" },
      },
      {
        ts: "2026-03-04T10:15:31.000Z",
        level: "warn",
        service: "billing",
        host: "web-1",
        message: "slow",
        attrs: { ms: 812, "syslog.procid": "12" },
      },
      { message: "nothing is known of this", attrs: {} },
    ]);
  });

  test("reads times without a zone in that of its mapping", () => {
    const [local, syslog] = entriesOf({ zone: "Europe/Berlin" });
    expect([local?.ts, syslog?.ts]).toEqual(["2026-03-04T09:15:30.123Z", "2026-03-04T09:15:31.000Z"]);
    expect(mappingIssues({ zone: "Europe/Berlin" })).toEqual([]);
    expect(mappingIssues({ zone: "Europe/Nowhere" }).map(({ path }) => path)).toEqual(["/zone"]);
  });

  test("gives a mapping what was recognised, and keeps what the mapping does not name", () => {
    const [entry] = entriesOf({
      fields: {
        service: { const: "shop" },
        thread: { from: "thread.name" },
        "log.original": { from: "log.original" },
      },
    });
    expect(entry).toEqual({
      ts: "2026-03-04T10:15:30.123Z",
      level: "error",
      service: "shop",
      message: STACK,
      attrs: {
        thread: "main",
        logger: "a.b.Ledger",
        "log.original": LINES.split("\nMar")[0],
      },
    });
  });

  test("gives up by itself what its mapping cannot take, as it came, and takes it from there again", () => {
    const mapping = { fields: { message: { from: "ms" } } };
    expect(decode(mapping).map(({ entry, problem }) => entry?.message ?? problem)).toEqual([
      "812",
      "there is no message at `ms`",
      "there is no message at `ms`",
    ]);
    const raw = LINES.slice(0, LINES.indexOf("Mar"));
    const again = sourceRecordDecoder({ format: "text", mapping: {}, now });
    expect(previewBody(again, Buffer.from(raw)).map(({ entry }) => entry?.message)).toEqual([STACK]);
  });

  test("shows its lines as they are while it is learning", () => {
    const decoder = sourceDecoder({ format: "text", mapping: {}, learning: true, now });
    const [entry] = previewBody(decoder, Buffer.from(LINES));
    expect(entry?.entry?.message).toBe(LINES.split("\nMar")[0]);
    expect(decoder.learned.texts.length).toBe(3);
  });
});
