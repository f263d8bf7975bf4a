import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { LogplexDecoder } from "../../../../ingest/decode/logplex/logplex-decoder.ts";
import { SyslogRecords } from "../../../../ingest/decode/syslog/syslog-records.ts";
import { decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const SAMPLE = join(import.meta.dir, "../../../../../shared/data/payloads/heroku-logplex.body");
const syslog = new SyslogRecords({ now: () => RECEIVED_AT_MS });
const TOKEN = "d.fc6b856b-3332-4546-93de-7d0ee272c3bd";

function decoder(messageCount: number | null = null, drainToken: string | null = null): LogplexDecoder {
  return new LogplexDecoder(syslog, { messageCount, drainToken });
}

function framed(...messages: string[]): string {
  return messages.map((message) => `${Buffer.byteLength(message)} ${message}`).join("");
}

const HEAD = "<158>1 2026-11-21T10:00:00.123456+00:00 host app web.1 -";

describe("a frame", () => {
  test("gives its header and its message to the entry, which says which drain it came through", () => {
    expect(decodeEntries(decoder(1, TOKEN), framed(`${HEAD} started [ok]\n`))).toEqual([
      {
        ts: 1_795_255_200_123_456_000n,
        message: "started [ok]",
        level: "info",
        service: "app",
        host: "host",
        attrs: {
          "syslog.facility": "local3",
          "syslog.severity": "info",
          "syslog.procid": "web.1",
          "logplex.drain_token": TOKEN,
        },
      },
    ]);
  });

  test("is counted in bytes, not in characters", () => {
    const messages = ["naïve €", "日本語 😀", "plain"];
    const body = framed(...messages.map((message) => `${HEAD} ${message}\n`));
    expect(decodeEntries(decoder(3), body).map(({ message }) => message)).toEqual(messages);
  });

  test("may hold another frame's beginning, line breaks and JSON", () => {
    const [first, second] = decodeEntries(
      decoder(2),
      framed(`${HEAD} 12 <13>1 - and\nmore\n`, `${HEAD} {"level":"error","msg":"boom","user":{"id":7}}\n`),
    );
    expect(first?.message).toBe("12 <13>1 - and\nmore");
    expect(second).toMatchObject({ level: "error", message: "boom", attrs: { "user.id": 7 } });
  });

  test("with CEF in it is taken apart as CEF", () => {
    const [entry] = decodeEntries(
      decoder(1, TOKEN),
      framed(`${HEAD} CEF:0|Example|Gate|1.0|100|Port scan|8|src=192.0.2.1 dpt=22`),
    );
    expect(entry?.level).toBe("error");
    expect(JSON.stringify(entry?.attrs)).toContain("192.0.2.1");
    expect(entry?.attrs["logplex.drain_token"]).toBe(TOKEN);
  });

  test("of any text arrives whole", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc
            .string({ unit: "binary", minLength: 1, maxLength: 30 })
            .filter(
              (text) => text.isWellFormed() && text.trim() === text && !/^[[@{\ufeff]|CEF|\0$/.test(text),
            ),
          { minLength: 1, maxLength: 5 },
        ),
        (messages) => {
          const body = framed(...messages.map((message) => `${HEAD} ${message}`));
          expect(decodeEntries(decoder(messages.length), body).map(({ message }) => message)).toEqual(
            messages,
          );
        },
      ),
      { numRuns: 200 },
    ));
});

describe("nothing is lost when", () => {
  test("the sender counted other messages than there are: they are stored, and the difference is kept", () => {
    const { entries, rejections } = decodeRequest(decoder(3), framed(`${HEAD} one`, `${HEAD} two`));
    expect(entries.map(({ message }) => message)).toEqual(["one", "two"]);
    expect(rejections).toEqual([
      {
        place: "Logplex-Msg-Count",
        reason: "the sender counted 3 messages and the body has 2",
        raw: "Logplex-Msg-Count: 3",
      },
    ]);
  });

  test("the body cannot be framed from a place on: what is before is stored, the rest is kept whole", () => {
    const rest = `900 ${HEAD} cut off`;
    const { entries, rejections } = decodeRequest(decoder(2), framed(`${HEAD} one`) + rest);
    expect(entries).toHaveLength(1);
    expect(rejections.map(({ raw }) => raw)).toEqual([rest]);
  });

  test("a large body is no row of frames at all: every byte of it is kept", () => {
    const body = "no frame ".repeat(100_000);
    const { rejections, refusal } = decodeRequest(decoder(), body);
    expect(refusal).toBeNull();
    expect(rejections.map(({ raw }) => raw).join("")).toBe(body);
  });

  test("a body is cut at any byte", () => {
    const first = framed(`${HEAD} é one`);
    const body = Buffer.from(first + framed(`${HEAD} two 😀`));
    const firstBytes = Buffer.byteLength(first);
    for (let length = 1; length < body.length; length++) {
      const { entries, rejections } = decodeRequest(decoder(), body.subarray(0, length));
      const isBetween = length === firstBytes;
      expect([entries.length, rejections.length]).toEqual([length < firstBytes ? 0 : 1, isBetween ? 0 : 1]);
    }
  });
});

test.if(existsSync(SAMPLE))("the platform's own sample gives four entries", () => {
  const entries = decodeEntries(decoder(4), readFileSync(SAMPLE));
  expect(entries.map(({ service, message }) => [service, message])).toEqual([
    ["erlang", "Hi from erlang"],
    ["erlang", "Hi from erlang"],
    ["web.3", "State changed from starting to up"],
    ["web.3", "Starting process with command `bundle exec rackup config.ru -p 24405`"],
  ]);
});
