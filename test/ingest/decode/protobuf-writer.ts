const encoder = new TextEncoder();

/** A number in groups of seven bits; negative ones as 64 bits. */
function varint(value: bigint | number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

export function varintField(number: number, value: bigint | number): Uint8Array {
  return Buffer.concat([varint(number << 3), varint(value)]);
}

export function fixed64Field(number: number, value: bigint): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setBigUint64(0, BigInt.asUintN(64, value), true);
  return Buffer.concat([varint((number << 3) | 1), new Uint8Array(bytes.buffer)]);
}

export function doubleField(number: number, value: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value, true);
  return Buffer.concat([varint((number << 3) | 1), new Uint8Array(bytes.buffer)]);
}

export function fixed32Field(number: number, value: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setUint32(0, value, true);
  return Buffer.concat([varint((number << 3) | 5), new Uint8Array(bytes.buffer)]);
}

/** A text, or the fields of a message. */
export function lengthField(number: number, ...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const content = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part)),
  );
  return Buffer.concat([varint((number << 3) | 2), varint(content.length), content]);
}
