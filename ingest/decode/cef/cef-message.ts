import { levelOfSyslogSeverity } from "../../record/levels.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import type { SyslogMessage } from "../syslog/syslog-message.ts";
import { writeSyslogHeader } from "../syslog/write-header.ts";
import { CustomFields } from "./cef-custom-fields.ts";
import { CEF_KEYS, type CefRole } from "./cef-dictionary.ts";
import { CefExtension } from "./cef-extension.ts";
import { CefHeader, HEADER_FIELDS } from "./cef-header.ts";
import { isSame } from "./cef-key-table.ts";
import { isJsonNumber, levelOfCefSeverity, writeCefTime } from "./cef-values.ts";
import { type ByteRange, CefUnescaper, emptyRange } from "./unescape.ts";

/** What came around the message. */
interface CefSurroundings {
  /** The syslog header in front of it. */
  readonly prefix: SyslogMessage | null;
  /** The address it was received from. */
  readonly peer: string | null;
  /** The time of receipt, for times without a year. */
  readonly nowMs: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const HEADER_NAMES = HEADER_FIELDS.map((name) => encoder.encode(name));
const VERSION_FIELD = HEADER_FIELDS.indexOf("cefVersion");
const VENDOR_FIELD = HEADER_FIELDS.indexOf("deviceVendor");
const PRODUCT_FIELD = HEADER_FIELDS.indexOf("deviceProduct");
const NAME_FIELD = HEADER_FIELDS.indexOf("name");
const SEVERITY_FIELD = HEADER_FIELDS.indexOf("severity");
/** Text of an extension that belongs to no key. */
const STRAY_NAME = encoder.encode("extension");
/** Text in front of a message that is no syslog header. */
const PREFIX_ATTRIBUTE = "syslog.prefix";

/**
 * Reads one message after the other and writes it as a record. Everything stays bytes, and everything is reused: 15 pairs
 * a message would be as many strings and objects.
 */
export class CefMessage {
  readonly #header = new CefHeader();
  readonly #extension = new CefExtension();
  readonly #unescaper = new CefUnescaper();
  readonly #fields: readonly ByteRange[] = HEADER_FIELDS.map(emptyRange);
  readonly #value = emptyRange();
  readonly #custom = new CustomFields();
  readonly #roles: Readonly<Record<Exclude<CefRole, "none">, ByteRange>> = {
    message: emptyRange(),
    receiptTime: emptyRange(),
    endTime: emptyRange(),
    startTime: emptyRange(),
    deviceHost: emptyRange(),
    deviceAddress: emptyRange(),
  };
  readonly #allRoles: readonly ByteRange[] = Object.values(this.#roles);
  #source: Uint8Array = new Uint8Array(0);
  #lastSource = { vendor: new Uint8Array(0), product: new Uint8Array(0), text: "" };

  /**
   * Reads the message that begins at a place given by `findCef` in `source`, which is UTF-8 and ends with the message.
   * Answers why it cannot be read, or null.
   */
  read(source: Uint8Array, at: number): string | null {
    const problem = this.#header.read(source, at, source.length);
    if (problem !== null) return problem;
    this.#source = source;
    this.#extension.read(source, this.#header.extensionAt, source.length);
    return null;
  }

  /**
   * Writes the message that was read into the record that is open in `writer`. The host is the first there is of
   * dvchost, the syslog header's host, dvc and the peer's address; the time the first of rt, end, start and the syslog
   * header's. All keys become attributes besides, except `msg` where it is the message.
   */
  write(writer: RecordWriter, { prefix, peer, nowMs }: CefSurroundings): void {
    this.#unescaper.reset();
    for (const role of this.#allRoles) role.end = role.start;
    this.#writeHeader(writer);
    this.#writePairs(writer);
    const { strayStart, strayEnd } = this.#extension;
    if (strayEnd > strayStart)
      writer.attributeBytes(STRAY_NAME, 0, STRAY_NAME.length, this.#source, strayStart, strayEnd, false);
    const { message, receiptTime, endTime, startTime } = this.#roles;
    const text = isEmpty(message) ? this.#field(NAME_FIELD) : message;
    writer.messageBytes(text.bytes, text.start, text.end);
    this.#writeSource(writer);
    this.#writeHost(writer, prefix, peer);
    const level = levelOfCefSeverity(this.#field(SEVERITY_FIELD)) ?? levelOfPrefix(prefix);
    if (level !== null) writer.level(level);
    const hasTime =
      writeCefTime(writer, receiptTime, nowMs) ||
      writeCefTime(writer, endTime, nowMs) ||
      writeCefTime(writer, startTime, nowMs);
    if (prefix === null) return;
    if (!hasTime && prefix.time !== null) writer.timeParts(prefix.time.seconds, prefix.time.nanos);
    writeSyslogHeader(writer, prefix);
    if (prefix.message !== "") writer.attribute(PREFIX_ATTRIBUTE, prefix.message);
  }

  #writeHeader(writer: RecordWriter): void {
    const { starts, ends } = this.#header;
    for (let field = 0; field < HEADER_FIELDS.length; field++) {
      const range = this.#field(field);
      this.#unescaper.read(this.#source, starts[field] ?? 0, ends[field] ?? 0, false, range);
      const isNumber =
        (field === VERSION_FIELD && isJsonNumber(range, "float")) ||
        (field === SEVERITY_FIELD && isJsonNumber(range, "integer"));
      const name = HEADER_NAMES[field] ?? STRAY_NAME;
      writer.attributeBytes(name, 0, name.length, range.bytes, range.start, range.end, isNumber);
    }
  }

  #writePairs(writer: RecordWriter): void {
    const extension = this.#extension;
    const source = this.#source;
    const value = this.#value;
    this.#custom.clear();
    for (let pair = 0; pair < extension.count; pair++) {
      const keyStart = extension.keyStart(pair);
      const keyEnd = extension.keyEnd(pair);
      const known = CEF_KEYS.get(source, keyStart, keyEnd);
      if (known !== undefined && (known.custom >= 0 || known.labels >= 0)) {
        this.#custom.add(known, pair);
        continue;
      }
      this.#unescaper.read(source, extension.valueStart(pair), extension.valueEnd(pair), true, value);
      const { bytes, start, end } = value;
      if (known === undefined) {
        writer.attributeBytes(source, keyStart, keyEnd, bytes, start, end, false);
        continue;
      }
      if (known.role !== "none") {
        const role = this.#roles[known.role];
        if (isEmpty(role)) copyRange(value, role);
        if (known.role === "message") continue;
      }
      const { nameBytes } = known;
      writer.attributeBytes(
        nameBytes,
        0,
        nameBytes.length,
        bytes,
        start,
        end,
        isJsonNumber(value, known.kind),
      );
    }
    this.#custom.write(writer, source, extension, this.#unescaper);
  }

  #writeHost(writer: RecordWriter, prefix: SyslogMessage | null, peer: string | null): void {
    const { deviceHost, deviceAddress } = this.#roles;
    if (!isEmpty(deviceHost)) writer.host(textOf(deviceHost));
    else if (prefix !== null && prefix.hostname !== null) writer.host(prefix.hostname);
    else if (!isEmpty(deviceAddress)) writer.host(textOf(deviceAddress));
    else if (peer !== null) writer.host(peer);
  }

  /** Vendor and product; nearly always those of the message before, whose text is used again. */
  #writeSource(writer: RecordWriter): void {
    const vendor = this.#field(VENDOR_FIELD);
    const product = this.#field(PRODUCT_FIELD);
    const last = this.#lastSource;
    if (!holds(vendor, last.vendor) || !holds(product, last.product))
      this.#lastSource = {
        vendor: vendor.bytes.slice(vendor.start, vendor.end),
        product: product.bytes.slice(product.start, product.end),
        text: `${textOf(vendor)} ${textOf(product)}`.trim(),
      };
    writer.source(this.#lastSource.text);
  }

  #field(field: number): ByteRange {
    return this.#fields[field] ?? this.#value;
  }
}

function isEmpty({ start, end }: ByteRange): boolean {
  return start === end;
}

function copyRange(from: ByteRange, to: ByteRange): void {
  to.bytes = from.bytes;
  to.start = from.start;
  to.end = from.end;
}

function textOf({ bytes, start, end }: ByteRange): string {
  return decoder.decode(bytes.subarray(start, end));
}

function holds({ bytes, start, end }: ByteRange, content: Uint8Array): boolean {
  return isSame(bytes, start, end, content, 0, content.length);
}

function levelOfPrefix(prefix: SyslogMessage | null): ReturnType<typeof levelOfSyslogSeverity> {
  return prefix === null || prefix.severity === null ? null : levelOfSyslogSeverity(prefix.severity);
}
