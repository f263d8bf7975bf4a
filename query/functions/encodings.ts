import { type CallWriter, type FunctionTable, parameter, repeated, simple, sql } from "./definition.ts";
import { elementsOf } from "./json-arrays.ts";
import { overTexts } from "./strings.ts";

/** The last number of a character. */
const LAST_CODE_POINT = 0x10ffff;

/** The SQL of the number of a character. */
export function codePointOf(character: string): string {
  const byte = (at: number) => `reinterpretAsUInt8(substring(${character}, ${at}, 1))`;
  const tail = (at: number) => `bitAnd(${byte(at)}, 63)`;
  const of = (parts: readonly (readonly [string, number])[]) =>
    parts.map(([part, factor]) => `toInt64(${part}) * ${factor}`).join(" + ");
  return (
    `multiIf(length(${character}) = 1, toInt64(${byte(1)}), ` +
    `length(${character}) = 2, ${of([
      [`bitAnd(${byte(1)}, 31)`, 64],
      [tail(2), 1],
    ])}, ` +
    `length(${character}) = 3, ${of([
      [`bitAnd(${byte(1)}, 15)`, 4096],
      [tail(2), 64],
      [tail(3), 1],
    ])}, ` +
    `${of([
      [`bitAnd(${byte(1)}, 7)`, 262144],
      [tail(2), 4096],
      [tail(3), 64],
      [tail(4), 1],
    ])})`
  );
}

/** The SQL of the character of a number; no character for a number that has none. */
export function characterOf(code: string): string {
  const tail = (divisor: number) => `128 + bitAnd(intDiv(${code}, ${divisor}), 63)`;
  return (
    `multiIf(${code} < 0 OR ${code} > ${LAST_CODE_POINT} OR (${code} >= 55296 AND ${code} <= 57343), '', ` +
    `${code} < 128, char(${code}), ` +
    `${code} < 2048, char(192 + intDiv(${code}, 64), ${tail(1)}), ` +
    `${code} < 65536, char(224 + intDiv(${code}, 4096), ${tail(64)}, ${tail(1)}), ` +
    `char(240 + intDiv(${code}, 262144), ${tail(4096)}, ${tail(64)}, ${tail(1)}))`
  );
}

/** Numbers and arrays of numbers, as Array(Int64). What is no number is no character. */
function codePoints(call: CallWriter): string {
  const lists = call.operands.map(({ type, isNullable }, i) => {
    if (type === "dynamic") {
      const json = call.sharedOperand(i);
      const numbers = `if(startsWith(${json}, '['), ${elementsOf(json)}, [${json}])`;
      return `arrayMap(x -> ifNull(toInt64OrNull(x), toInt64(-1)), ${numbers})`;
    }
    return `[toInt64(${isNullable ? `ifNull(${call.operand(i)}, -1)` : call.operand(i)})]`;
  });
  return lists.length === 1 ? lists.join("") : `arrayConcat(${lists.join(", ")})`;
}

const FROM_CODE_POINTS = simple(
  "The text of characters by their numbers.",
  [parameter("value", ["long", "dynamic"]), repeated("other", ["long", "dynamic"])],
  "string",
  "never",
  (call) => `arrayStringConcat(arrayMap(x -> ${characterOf("x")}, ${codePoints(call)}))`,
);

const TO_CODE_POINTS = simple(
  "The numbers of the characters.",
  [parameter("value", "any")],
  "dynamic",
  "never",
  (call) =>
    `concat('[', arrayStringConcat(arrayMap(x -> toString(${codePointOf("x")}), extractAll(toValidUTF8(${call.textOperand(0)}), '(?s:.)')), ','), ']')`,
);

const BASE64_ENCODE = simple(
  "The bytes of a text in Base64.",
  [parameter("string", "string")],
  "string",
  "never",
  sql`base64Encode(${0})`,
);

const BASE64_DECODE = simple(
  "The text of bytes in Base64; empty when they are none, or no UTF-8.",
  [parameter("base64_string", "string")],
  "string",
  "never",
  (call) => {
    const bytes = call.share(`tryBase64Decode(${call.operand(0)})`);
    return `if(isValidUTF8(${bytes}), ${bytes}, '')`;
  },
);

function decodeToArray(call: CallWriter): string {
  const text = call.sharedOperand(0);
  const bytes = call.share(`tryBase64Decode(${text})`);
  const numbers = `arrayMap(x -> toString(reinterpretAsUInt8(substring(${bytes}, x, 1))), range(1, length(${bytes}) + 1))`;
  return `if(${bytes} = '' AND ${text} != '', '', concat('[', arrayStringConcat(${numbers}, ','), ']'))`;
}

function encodeFromArray(call: CallWriter): string {
  const bytes = call.share(`arrayMap(x -> toUInt8OrNull(x), ${elementsOf(call.operand(0))})`);
  const text = `arrayStringConcat(arrayMap(x -> char(ifNull(x, 0)), ${bytes}))`;
  return `if(arrayExists(x -> isNull(x), ${bytes}), '', base64Encode(${text}))`;
}

/** Where the bytes of a guid stand in its hexadecimal digits: three parts have their lowest byte first. */
const GUID_BYTES = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

function guidOfBytes(call: CallWriter): string {
  const bytes = call.share(`tryBase64Decode(${call.operand(0)})`);
  const digits = (from: number, to: number) =>
    GUID_BYTES.slice(from, to)
      .map((at) => `substring(${bytes}, ${at + 1}, 1)`)
      .join(", ");
  const parts = [
    [0, 4],
    [4, 6],
    [6, 8],
    [8, 10],
    [10, 16],
  ].map(([from = 0, to = 0]) => `hex(concat(${digits(from, to)}))`);
  return `if(length(${bytes}) = 16, lower(concat(${parts.join(", '-', ")})), '')`;
}

function bytesOfGuid(call: CallWriter): string {
  const digits = call.share(`replaceAll(${call.operand(0)}, '-', '')`);
  const bytes = GUID_BYTES.map((at) => `unhex(substring(${digits}, ${2 * at + 1}, 2))`);
  return `base64Encode(concat(${bytes.join(", ")}))`;
}

/** Codes of texts, of bytes and of characters. */
export const ENCODING_FUNCTIONS = {
  unicode_codepoints_from_string: TO_CODE_POINTS,
  to_utf8: TO_CODE_POINTS,
  unicode_codepoints_to_string: FROM_CODE_POINTS,
  make_string: FROM_CODE_POINTS,
  base64_encode_tostring: BASE64_ENCODE,
  base64_encodestring: BASE64_ENCODE,
  base64_decode_tostring: BASE64_DECODE,
  base64_decodestring: BASE64_DECODE,
  base64_decode_toarray: simple(
    "The bytes of a text in Base64; null when they are none.",
    [parameter("base64_string", "string")],
    "dynamic",
    "never",
    decodeToArray,
  ),
  base64_encode_fromarray: simple(
    "Bytes in Base64; empty when one of them is none.",
    [parameter("base64_string_decoded_as_array", "dynamic")],
    "string",
    "never",
    encodeFromArray,
  ),
  base64_decode_toguid: simple(
    "The guid of 16 bytes in Base64; null when they are none.",
    [parameter("base64_string", "string")],
    "guid",
    "never",
    guidOfBytes,
  ),
  base64_encode_fromguid: simple(
    "The 16 bytes of a guid in Base64.",
    [parameter("guid", "guid")],
    "string",
    "never",
    bytesOfGuid,
  ),
  hash_md5: simple(
    "The MD5 digest of a value's text, in hexadecimal digits.",
    [parameter("source", "any")],
    "string",
    "never",
    overTexts((text) => `lower(hex(MD5(${text})))`),
  ),
  hash_sha1: simple(
    "The SHA-1 digest of a value's text, in hexadecimal digits.",
    [parameter("source", "any")],
    "string",
    "never",
    overTexts((text) => `lower(hex(SHA1(${text})))`),
  ),
  hash_sha256: simple(
    "The SHA-256 digest of a value's text, in hexadecimal digits.",
    [parameter("source", "any")],
    "string",
    "never",
    overTexts((text) => `lower(hex(SHA256(${text})))`),
  ),
} as const satisfies FunctionTable;
