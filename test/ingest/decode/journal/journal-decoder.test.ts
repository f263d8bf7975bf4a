import { expect, test } from "bun:test";
import fc from "fast-check";
import { JournalDecoder } from "../../../../ingest/decode/journal/journal-decoder.ts";
import { JournalEntries } from "../../../../ingest/decode/journal/journal-entries.ts";
import { presetOf } from "../../../../ingest/mapping/presets/presets.ts";
import { sourceDecoder } from "../../../../ingest/mapping/source-decoder.ts";
import { decodeEntries, decodeRequest } from "../decoded-entries.ts";

const journal = new JournalDecoder();
const ENTRY = {
  __CURSOR: "s=13a21661;i=116f1",
  __REALTIME_TIMESTAMP: "1772619330739502",
  PRIORITY: "3",
  _HOSTNAME: "web-1",
  SYSLOG_IDENTIFIER: "nginx",
  _SYSTEMD_UNIT: "nginx.service",
  _PID: "2345",
  MESSAGE: "bind() failed é",
};
const asLines = (entry: Readonly<Record<string, string>>): string =>
  `${Object.entries(entry)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("")}\n`;

/** A field with its length, as the journal writes values with line feeds. */
function binary(name: string, value: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(Buffer.byteLength(value)));
  return Buffer.concat([Buffer.from(`${name}\n`), head, Buffer.from(`${value}\n`)]);
}

test("an entry becomes what the preset makes of its JSON", () => {
  const preset = presetOf("journald");
  if (preset === null) throw new Error("no preset");
  const now = (): number => 0;
  const source = sourceDecoder({ format: preset.format, mapping: preset.mapping, learning: false, now });
  const entries = decodeEntries(journal, asLines(ENTRY));
  expect(entries).toEqual(decodeEntries(source, JSON.stringify(ENTRY)));
  expect(entries).toMatchObject([
    { message: "bind() failed é", level: "error", service: "nginx", host: "web-1", ts: 1772619330739502000n },
  ]);
});

test("values of any bytes are read by their length, and of a field given twice both are kept", () => {
  const body = Buffer.concat([
    binary("MESSAGE", "two\nlines\n\nA=b"),
    Buffer.from("TAG=a\nTAG=b\n\n\n\nMESSAGE=next\n"),
  ]);
  expect(decodeEntries(journal, body)).toMatchObject([
    { message: "two\nlines\n\nA=b", attrs: { TAG: ["a", "b"] } },
    { message: "next" },
  ]);
});

test("an entry that is cut off is rejected as it came, and the ones before it are read", () => {
  const body = Buffer.concat([Buffer.from("MESSAGE=first\n\n"), binary("MESSAGE", "second")]);
  for (let length = 16; length < body.length; length++) {
    const { entries, rejections } = decodeRequest(journal, body.subarray(0, length));
    expect(entries.map(({ message }) => message)).toEqual(["first"]);
    expect(rejections.map(({ place }) => place)).toEqual(["/1"]);
  }
});

test("a stream is taken apart where entries end, however it is split", () =>
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom("a", "\n", "=", "é"), minLength: 1, maxLength: 12 }), {
        maxLength: 6,
      }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (messages, sizes) => {
        const body = Buffer.concat(
          messages.flatMap((text) => [binary("MESSAGE", `m${text}`), Buffer.from("PRIORITY=6\n\n")]),
        );
        const entries = new JournalEntries();
        const found: string[] = [];
        const take = (bytes: Uint8Array): void => {
          if (bytes.length > 0) found.push(...decodeEntries(journal, bytes).map(({ message }) => message));
        };
        for (let at = 0, i = 0; at < body.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          entries.push(body.subarray(at, at + size));
          take(entries.take());
          at += size;
        }
        expect(entries.heldBytes).toBe(0);
        expect(found).toEqual(messages.map((text) => `m${text}`));
      },
    ),
  ));
