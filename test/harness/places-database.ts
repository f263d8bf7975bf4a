/**
 * Writes a database in the format of MaxMind (maxmind.github.io/MaxMind-DB) with a tree of addresses of version 4: the
 * smallest one that readers take.
 */
export function placesDatabase(places: Readonly<Record<string, object>>): Buffer {
  type Node = [Node | number | null, Node | number | null];
  const root: Node = [null, null];
  const data: Buffer[] = [];
  let dataBytes = 0;
  for (const [network, place] of Object.entries(places)) {
    const [address = "", length = "32"] = network.split("/");
    const encoded = encode(place);
    const offset = dataBytes;
    data.push(encoded);
    dataBytes += encoded.length;
    const bits = address.split(".").flatMap((part) => [...Number(part).toString(2).padStart(8, "0")]);
    let node = root;
    for (const [i, bit] of bits.slice(0, Number(length)).entries()) {
      const side = bit === "1" ? 1 : 0;
      if (i === Number(length) - 1) node[side] = offset;
      else {
        const next = node[side];
        const made: Node = Array.isArray(next) ? next : [null, null];
        node[side] = made;
        node = made;
      }
    }
  }
  const nodes: Node[] = [];
  const number = new Map<Node, number>();
  const visit = (node: Node): void => {
    number.set(node, nodes.length);
    nodes.push(node);
    for (const side of node) if (Array.isArray(side)) visit(side);
  };
  visit(root);
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [i, node] of nodes.entries())
    for (const [side, to] of node.entries()) {
      const record =
        to === null ? nodes.length : Array.isArray(to) ? (number.get(to) ?? 0) : nodes.length + 16 + to;
      tree.writeUIntBE(record, i * 6 + side * 3, 3);
    }
  const metadata = encode({
    node_count: nodes.length,
    record_size: 24,
    ip_version: 4,
    database_type: "Test-City",
    languages: [],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    description: {},
  });
  const mark = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from("MaxMind.com")]);
  return Buffer.concat([tree, Buffer.alloc(16), ...data, mark, metadata]);
}

function encode(value: unknown): Buffer {
  if (typeof value === "string") return withType(2, Buffer.byteLength(value), Buffer.from(value));
  if (typeof value === "number" && Number.isInteger(value)) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return withType(6, 4, bytes);
  }
  if (typeof value === "number") {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return withType(3, 8, bytes);
  }
  if (Array.isArray(value)) return Buffer.concat([Buffer.from([value.length, 4]), ...value.map(encode)]);
  const entries = Object.entries(value ?? {});
  return withType(
    7,
    entries.length,
    Buffer.concat(entries.flatMap(([key, of]) => [encode(key), encode(of)])),
  );
}

/** Sizes under 29 stand beside the type. */
function withType(type: number, size: number, bytes: Buffer): Buffer {
  const head = size < 29 ? [(type << 5) | size] : [(type << 5) | 29, size - 29];
  return Buffer.concat([Buffer.from(head), bytes]);
}
