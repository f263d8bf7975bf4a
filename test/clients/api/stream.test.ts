import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EventStreamParser, type ServerSentEvent } from "../../../clients/api/stream.ts";

interface Parsed {
  events: ServerSentEvent[];
  lastEventId: string;
  retryMs: number | null;
}

function parse(chunks: readonly Uint8Array[], lastEventId = ""): Parsed {
  const parser = new EventStreamParser(lastEventId);
  const events = chunks.flatMap((chunk) => parser.push(chunk));
  return { events, lastEventId: parser.lastEventId, retryMs: parser.retryMs };
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The standard's algorithm over the whole text at once. */
function reference(stream: Uint8Array): Parsed {
  const lines = new TextDecoder().decode(stream).split(/\r\n|\n|\r/);
  lines.pop();
  const parsed: Parsed = { events: [], lastEventId: "", retryMs: null };
  let [type, data, id] = ["", "", ""];
  for (const line of lines) {
    if (line === "") {
      parsed.lastEventId = id;
      if (data !== "") parsed.events.push({ type: type === "" ? "message" : type, data: data.slice(0, -1) });
      [type, data] = ["", ""];
      continue;
    }
    const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") type = value;
    if (field === "data") data += `${value}\n`;
    if (field === "id" && !value.includes("\0")) id = value;
    if (field === "retry" && /^[0-9]+$/.test(value)) parsed.retryMs = Number(value);
  }
  return parsed;
}

const piece = fc.oneof(
  fc.constantFrom(
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\r\n\r\n",
    "\r\r",
    ":",
    " ",
    "\0",
    "\ufeff",
    "日本",
    "\u{1f600}",
    "\u2028",
  ),
  fc.constantFrom(
    "data",
    "data:",
    "data: ",
    "event:",
    "event: log",
    "id",
    "id:",
    "id: 7",
    "retry: 25",
    "retry: x",
    ": hi",
  ),
  fc.string(),
);
const stream = fc.array(piece, { maxLength: 40 }).map((pieces) => bytes(pieces.join("")));

test("events are those of the standard, wherever the chunks end", () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(300)), (whole, ends) => {
      const cuts = [
        0,
        ...ends.map((end) => Math.min(end, whole.length)).toSorted((a, b) => a - b),
        whole.length,
      ];
      const chunks = cuts.slice(1).map((end, i) => whole.subarray(cuts[i], end));
      expect(parse(chunks)).toEqual(reference(whole));
      expect(parse(Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(reference(whole));
    }),
    { numRuns: 2000 },
  );
});

describe("a block", () => {
  const cases: Record<string, [string, Partial<Parsed>]> = {
    "joins its data lines": ["data: a\ndata:b\ndata\n\n", { events: [{ type: "message", data: "a\nb\n" }] }],
    "with empty data is an event": ["data:\n\n", { events: [{ type: "message", data: "" }] }],
    "without data is none, but its id counts": ["event: x\nid: 9\n\n", { events: [], lastEventId: "9" }],
    "that does not end is none, nor is its id": [
      "id: 1\ndata: a\n\nid: 2\ndata: b\n",
      { events: [{ type: "message", data: "a" }], lastEventId: "1" },
    ],
    "keeps all but one leading blank": ["data:  a \n\n", { events: [{ type: "message", data: " a " }] }],
    "with an id that holds NUL keeps the one before": ["id: 1\n\nid: 2\0\n\n", { lastEventId: "1" }],
    "with an empty id clears it": ["id: 1\n\nid\n\n", { lastEventId: "" }],
    "may be a comment": [": still here\n\n", { events: [] }],
    "says how long to wait": ["retry: 1500\n\n", { retryMs: 1500 }],
  };
  for (const [name, [text, wanted]] of Object.entries(cases))
    test(name, () => {
      expect(parse([bytes(text)])).toMatchObject(wanted);
    });

  test("without an id inherits the one of the stream before", () => {
    expect(parse([bytes("data: a\n\n")], "41").lastEventId).toBe("41");
  });
});

describe("what never ends is not kept", () => {
  const chunk = bytes("x".repeat(4 * 1024 * 1024));
  const pushAll = (start: string, line: Uint8Array): void => {
    const parser = new EventStreamParser();
    parser.push(bytes(start));
    for (let i = 0; i < 20; i++) parser.push(line);
  };

  test("an event is refused, be it one line or many", () => {
    expect(() => pushAll("data: ", chunk)).toThrow("the server sent an event of more than");
    expect(() => pushAll("", bytes(`data: ${"x".repeat(4 * 1024 * 1024)}\n`))).toThrow(
      "the server sent an event of more than",
    );
  });

  test("a line that is no field is passed over", () => {
    expect(() => pushAll("", chunk)).not.toThrow();
    expect(() => pushAll(": ", chunk)).not.toThrow();
  });
});
