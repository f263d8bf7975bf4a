/** Common Event Format as devices send it: what of a line ends up where in the entry. */
import { describe, expect, test } from "bun:test";
import { CefDecoder } from "../../../../ingest/decode/cef/cef-decoder.ts";
import { type DecodedEntry, decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const decoder = new CefDecoder({ now: () => RECEIVED_AT_MS });

function decodeLine(line: string): DecodedEntry {
  const [entry] = decodeEntries(decoder, line);
  if (entry === undefined) throw new Error("no entry");
  return entry;
}

/** The attributes that come from the extension. */
function extensionOf(extension: string): Record<string, unknown> {
  const { attrs } = decodeLine(`CEF:0|Example|Firewall|1.0|100|Port scan|5|${extension}`);
  const {
    cefVersion,
    deviceVendor,
    deviceProduct,
    deviceVersion,
    deviceEventClassId,
    name,
    severity,
    ...rest
  } = attrs;
  expect([
    cefVersion,
    deviceVendor,
    deviceProduct,
    deviceVersion,
    deviceEventClassId,
    name,
    severity,
  ]).toEqual([0, "Example", "Firewall", "1.0", "100", "Port scan", 5]);
  return rest;
}

function timeOf(entry: DecodedEntry): string {
  return new Date(Number(entry.ts / 1_000_000n)).toISOString();
}

test("a line becomes an entry with readable attributes, its level, source, host and time", () => {
  const line =
    "CEF:0|Example|Firewall|1.0|100|Connection denied|8|rt=1763712000123 dvchost=fw1.example.com src=192.0.2.7 " +
    "spt=51234 dst=198.51.100.9 dpt=443 proto=TCP act=deny msg=blocked by rule 7";
  const entry = decodeLine(line);
  expect(timeOf(entry)).toBe("2025-11-21T08:00:00.123Z");
  expect({ ...entry, ts: 0n }).toEqual({
    ts: 0n,
    message: "blocked by rule 7",
    level: "error",
    source: "Example Firewall",
    host: "fw1.example.com",
    attrs: {
      cefVersion: 0,
      deviceVendor: "Example",
      deviceProduct: "Firewall",
      deviceVersion: "1.0",
      deviceEventClassId: "100",
      name: "Connection denied",
      severity: 8,
      deviceReceiptTime: "1763712000123",
      deviceHostName: "fw1.example.com",
      sourceAddress: "192.0.2.7",
      sourcePort: 51234,
      destinationAddress: "198.51.100.9",
      destinationPort: 443,
      transportProtocol: "TCP",
      deviceAction: "deny",
    },
  });
});

describe("the header", () => {
  const cases: [string, string, Record<string, unknown>][] = [
    ["CEF:0|a\\|b|c\\\\d|1|2|n\\|m|3|", "n|m", { deviceVendor: "a|b", deviceProduct: "c\\d" }],
    ["CEF:1|v|p|1|2|escaped \\= stays|3", "escaped \\= stays", { cefVersion: 1 }],
    ["CEF:0|a=b|p|1|2|equals|3|x=1", "equals", { deviceVendor: "a=b", x: "1" }],
    ["CEF: 0|v|p|1|2|blank behind the mark|3|", "blank behind the mark", { cefVersion: 0 }],
    ["CEF:0.1|v|p|1|2|version with a dot|3|", "version with a dot", { cefVersion: 0.1 }],
    ["CEF:0|||||||", "", { deviceVendor: "", severity: "" }],
    ["CEF:0| v | p |1|2| blanks |3|", "blanks", { deviceVendor: "v", deviceProduct: "p" }],
    ["CEF:0|v|p|1|2|no extension, no last pipe|3", "no extension, no last pipe", { severity: 3 }],
    [
      "CEF:0|v|p|1|2|no severity|act=drop src=192.0.2.1",
      "no severity",
      { deviceAction: "drop", severity: "" },
    ],
    ["CEF:0|v|p|1|2|Zugriff verweigert – ü|3|msg=日本語", "日本語", { name: "Zugriff verweigert – ü" }],
  ];
  test.each(cases)("%s", (line, message, attrs) => {
    const entry = decodeLine(line);
    expect(entry.message).toBe(message);
    expect(entry.attrs).toMatchObject(attrs);
  });
});

describe("the extension", () => {
  const cases: [string, Record<string, unknown>][] = [
    ["fname=C:\\\\temp\\\\a.txt x=a\\=b", { fileName: "C:\\temp\\a.txt", x: "a=b" }],
    ["x=line one\\nline two\\r\\nthree", { x: "line one\nline two\r\nthree" }],
    ["x=a pipe | and an escaped one \\|", { x: "a pipe | and an escaped one |" }],
    ["filePath=C:\\Windows\\System32", { filePath: "C:\\Windows\\System32" }],
    ["x=ends with a backslash\\", { x: "ends with a backslash\\" }],
    ["x=ends with two\\\\ y=1", { x: "ends with two\\", y: "1" }],
    ["request=https://example.com/a?b=c&d=e f=1", { requestUrl: "https://example.com/a?b=c&d=e", f: "1" }],
    ["x=a == b y=!=", { x: "a == b", y: "!=" }],
    ["x==y", { x: "=y" }],
    ["src= dst=192.0.2.1 spt=", { sourceAddress: "", destinationAddress: "192.0.2.1", sourcePort: "" }],
    [" src=192.0.2.1", { sourceAddress: "192.0.2.1" }],
    ["x=two  blanks  y=1", { x: "two  blanks ", y: "1" }],
    ["x=blanks at the end   \t", { x: "blanks at the end" }],
    ["x=tabs\tstay y=1", { x: "tabs\tstay", y: "1" }],
    ["ad.field-x=1 list[0]=2 _under=3", { "ad.field-x": "1", "list[0]": "2", _under: "3" }],
    ["no pair at all", { extension: "no pair at all" }],
    ["stray words x=1", { extension: "stray words", x: "1" }],
    ["x=1 x=2", { x: "1" }],
    ["name=other severity=low", { "extension.name": "other", "extension.severity": "low" }],
    [
      "in=18446744073709551615 out=9223372036854775807",
      { bytesIn: "18446744073709551615", bytesOut: 2 ** 63 },
    ],
    [
      "spt=080 dpt=+1 cnt=1.5 fsize=-2",
      { sourcePort: "080", destinationPort: "+1", baseEventCount: "1.5", fileSize: -2 },
    ],
    [
      "slat=52.52 slong=-1.5e1 dlat=north",
      { sourceGeoLatitude: 52.52, sourceGeoLongitude: -15, destinationGeoLatitude: "north" },
    ],
    ["sourceAddress=192.0.2.1 catdt=IDS", { sourceAddress: "192.0.2.1", categoryDeviceType: "IDS" }],
  ];
  test.each(cases)("%s", (extension, attrs) => {
    expect(extensionOf(extension)).toEqual(attrs);
  });
});

describe("custom fields go under their labels", () => {
  const cases: [string, string, Record<string, unknown>][] = [
    ["the label behind the value", "cs1=block out cs1Label=Rule Name", { "Rule Name": "block out" }],
    ["the label in front of it", "cn1Label=Score cn1=42", { Score: 42 }],
    ["floating point numbers", "cfp4=0.75 cfp4Label=Ratio", { Ratio: 0.75 }],
    ["addresses", "c6a2=2001:db8::1 c6a2Label=Gateway", { Gateway: "2001:db8::1" }],
    ["dates", "deviceCustomDate1=1763712000000 deviceCustomDate1Label=Expires", { Expires: "1763712000000" }],
    [
      "flexible fields",
      "flexString2=a flexString2Label=A flexNumber1=1 flexNumber1Label=B flexDate1=x flexDate1Label=C",
      { A: "a", B: 1, C: "x" },
    ],
    ["no label", "cs6=x cn3=1", { deviceCustomString6: "x", deviceCustomNumber3: 1 }],
    ["an empty label", "cs1=x cs1Label= cs2=y", { deviceCustomString1: "x", deviceCustomString2: "y" }],
    ["no value", "cs1Label=Rule", { deviceCustomString1Label: "Rule" }],
    ["an empty value", "cs1= cs1Label=Rule", { Rule: "" }],
    ["escapes in a label", "cs1=x cs1Label=a\\=b", { "a=b": "x" }],
    [
      "the name of a key",
      "cs1=x cs1Label=sourceAddress src=192.0.2.1",
      { deviceCustomString1: "x", deviceCustomString1Label: "sourceAddress", sourceAddress: "192.0.2.1" },
    ],
    [
      "the name of another field",
      "cs1=x cs1Label=y y=z",
      { deviceCustomString1: "x", deviceCustomString1Label: "y", y: "z" },
    ],
    [
      "one label twice",
      "cs1=x cs1Label=L cs2=y cs2Label=L",
      { L: "x", deviceCustomString2: "y", deviceCustomString2Label: "L" },
    ],
    ["the field's full name", "deviceCustomString1=x deviceCustomString1Label=Rule", { Rule: "x" }],
  ];
  test.each(cases)("%s", (_, extension, attrs) => {
    expect(extensionOf(extension)).toEqual(attrs);
  });
});

describe("the severity says the level", () => {
  const cases: [string, string | undefined][] = [
    ...[0, 1, 2, 3].map((n): [string, string] => [String(n), "info"]),
    ...[4, 5, 6].map((n): [string, string] => [String(n), "warn"]),
    ...[7, 8].map((n): [string, string] => [String(n), "error"]),
    ...[9, 10].map((n): [string, string] => [String(n), "fatal"]),
    ["Low", "info"],
    ["medium", "warn"],
    ["HIGH", "error"],
    ["Very-High", "fatal"],
    ["Very High", "fatal"],
    ["5.7", "warn"],
    ["warning", "warn"],
    ["Unknown", undefined],
    ["11", undefined],
    ["-1", undefined],
    ["", undefined],
  ];
  test.each(cases)("%p is %p", (severity, level) => {
    expect(decodeLine(`CEF:0|v|p|1|2|n|${severity}|x=1`).level).toBe(level);
  });
});

describe("times in every form", () => {
  const cases: [string, string][] = [
    ["rt=1763712000123", "2025-11-21T08:00:00.123Z"],
    ["rt=1763712000", "2025-11-21T08:00:00.000Z"],
    ["rt=Nov 21 2025 08:00:00", "2025-11-21T08:00:00.000Z"],
    ["rt=Nov 21 2025 08:00:00.123", "2025-11-21T08:00:00.123Z"],
    ["rt=Nov 21 2025 08:00:00.123 CET", "2025-11-21T07:00:00.123Z"],
    ["rt=Nov 21 2025 08:00:00 PST", "2025-11-21T16:00:00.000Z"],
    ["rt=Nov 21 2025 08:00:00 GMT+05:30", "2025-11-21T02:30:00.000Z"],
    ["rt=Nov 21 2025 08:00:00 NOWHERE", "2025-11-21T08:00:00.000Z"],
    ["rt=Nov  1 08:00:00", "2026-11-01T08:00:00.000Z"],
    ["rt=Dec 31 23:59:59.5 UTC", "2025-12-31T23:59:59.500Z"],
    ["rt=2025-11-21T08:00:00.5+01:00", "2025-11-21T07:00:00.500Z"],
    ["end=Nov 21 2025 08:00:00 start=Nov 20 2025 08:00:00", "2025-11-21T08:00:00.000Z"],
    ["start=1763712000123", "2025-11-21T08:00:00.123Z"],
    ["rt=not a time end=1763712000123", "2025-11-21T08:00:00.123Z"],
    ["rt=Feb 30 2025 08:00:00", "2026-11-21T12:00:00.123Z"],
    ["rt=", "2026-11-21T12:00:00.123Z"],
    ["x=1", "2026-11-21T12:00:00.123Z"],
  ];
  test.each(cases)("%s", (extension, time) => {
    expect(timeOf(decodeLine(`CEF:0|v|p|1|2|n|3|${extension}`))).toBe(time);
  });
});

describe("behind a syslog header", () => {
  const CEF = "CEF:0|v|p|1|2|n|3|x=1";
  const cases: [string, string | undefined, string, Record<string, unknown>][] = [
    ["Nov  2 10:00:00 fw1 ", "fw1", "2026-11-02T10:00:00.000Z", {}],
    ["<134>Nov  2 10:00:00 fw1 ", "fw1", "2026-11-02T10:00:00.000Z", { "syslog.facility": "local0" }],
    ["<134>Nov  2 10:00:00 fw1 CEF: ", "fw1", "2026-11-02T10:00:00.000Z", {}],
    ["<134>Nov  2 10:00:00 fw1 agent[12]: ", "fw1", "2026-11-02T10:00:00.000Z", { "syslog.procid": "12" }],
    [
      '<134>1 2026-11-02T10:00:00Z fw1 app - ID7 [a b="c"] ',
      "fw1",
      "2026-11-02T10:00:00.000Z",
      { "syslog.msgid": "ID7", "a.b": "c" },
    ],
    ["2026-11-02T10:00:00.5+01:00 fw1 ", "fw1", "2026-11-02T09:00:00.500Z", {}],
    ["fw1.example.com ", "fw1.example.com", "2026-11-21T12:00:00.123Z", {}],
    ["<134>", undefined, "2026-11-21T12:00:00.123Z", { "syslog.severity": "info" }],
    ["\uFEFF", undefined, "2026-11-21T12:00:00.123Z", {}],
    [
      "some words nobody knows ",
      undefined,
      "2026-11-21T12:00:00.123Z",
      { "syslog.prefix": "some words nobody knows" },
    ],
  ];
  test.each(cases)("%p", (prefix, host, time, attrs) => {
    const entry = decodeLine(prefix + CEF);
    expect(entry.host).toBe(host);
    expect(timeOf(entry)).toBe(time);
    expect(entry.message).toBe("n");
    expect(entry.attrs).toMatchObject({ x: "1", ...attrs });
  });

  test("the device's own name and time win over the header's, the header's host over the device's address", () => {
    const named = decodeLine(`Nov  2 10:00:00 relay ${CEF} rt=1763712000123 dvchost=fw1 dvc=192.0.2.1`);
    expect([named.host, timeOf(named)]).toEqual(["fw1", "2025-11-21T08:00:00.123Z"]);
    expect(decodeLine(`Nov  2 10:00:00 relay ${CEF} dvc=192.0.2.1`).host).toBe("relay");
    expect(decodeLine(`${CEF} dvc=192.0.2.1 shost=client`).host).toBe("192.0.2.1");
    expect(decodeLine(`${CEF} shost=client`).host).toBeUndefined();
  });
});

test("lines that are not CEF are rejected with their place, the others are stored", () => {
  const good = "CEF:0|v|p|1|2|good|3|";
  const body = `${good}\r\n\n not CEF at all\n${good}\nCEF:0|v|p|1|2\nCEF:x|v|p|1|2|n|3|\nxCEF:0|v|p|1|2|n|3|\n${good}`;
  const { entries, rejections, refusal } = decodeRequest(decoder, body);
  expect(refusal).toBeNull();
  expect(entries.map(({ message }) => message)).toEqual(["good", "good", "good"]);
  expect(rejections).toEqual([
    { place: "line 3", reason: "the line has no CEF header", raw: " not CEF at all" },
    { place: "line 5", reason: "the CEF header has 5 of its 7 fields", raw: "CEF:0|v|p|1|2" },
    { place: "line 6", reason: "the line has no CEF header", raw: "CEF:x|v|p|1|2|n|3|" },
    { place: "line 7", reason: "the line has no CEF header", raw: "xCEF:0|v|p|1|2|n|3|" },
  ]);
});

test("bytes that are not UTF-8 are read as Latin-1, in their line only", () => {
  const body = Buffer.concat([
    Buffer.from("CEF:0|v|p|1|2|n|3|msg=caf\xe9 x=ü", "latin1"),
    Buffer.from("\nCEF:0|v|p|1|2|n|3|msg=café"),
  ]);
  expect(decodeEntries(decoder, body).map(({ message, attrs }) => [message, attrs.x])).toEqual([
    ["café", "ü"],
    ["café", undefined],
  ]);
});

test("what was read from one line is not seen in the next", () => {
  const lines = ["cs1=a cs1Label=A msg=m dvchost=h rt=1763712000123", "x=1"];
  const [, second] = decodeEntries(decoder, lines.map((line) => `CEF:0|v|p|1|2|n|9|${line}`).join("\n"));
  expect(second).toMatchObject({ message: "n", level: "fatal" });
  expect(second?.host).toBeUndefined();
  expect(Object.keys(second?.attrs ?? {})).not.toContain("A");
});

test("of a key that comes twice the first says the time and the host", () => {
  const entry = decodeLine(
    "CEF:0|v|p|1|2|n|9|rt=1763712000123 rt=1763712099999 dvchost=first dvchost=second",
  );
  expect([timeOf(entry), entry.host]).toEqual(["2025-11-21T08:00:00.123Z", "first"]);
});

test("the source of each message is its own vendor and product", () => {
  const headers = ["a|p", "a|q", "b|q", "b|q", "a|p"];
  const entries = decodeEntries(decoder, headers.map((header) => `CEF:0|${header}|1|2|n|9|`).join("\n"));
  expect(entries.map(({ source }) => source)).toEqual(["a p", "a q", "b q", "b q", "a p"]);
});
