import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from "yaml";
import { YAML_MAX_DEPTH, YAML_MAX_NODES } from "../limits.ts";

/** Where something stands in a file; lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface PlacedProblem {
  readonly place: Place;
  readonly message: string;
}

/** A file as JSON, and where each of its values stands, by JSON pointer. */
interface YamlFile {
  readonly value: unknown;
  readonly places: ReadonlyMap<string, Place>;
  readonly problems: readonly PlacedProblem[];
}

/**
 * Reads YAML 1.2 as JSON, with the core schema: no tags of other types, no key twice, and no more values and levels than
 * the bounds allow, those counted that aliases repeat.
 */
export function readYaml(file: string, text: string): YamlFile {
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  let document: Document.Parsed;
  try {
    document = parseDocument(text, {
      ...{ version: "1.2", schema: "core", strict: true, uniqueKeys: false, prettyErrors: false },
      lineCounter: lines,
    });
  } catch (error) {
    // The parser follows levels with calls of its own, of which there can be too many.
    if (!(error instanceof RangeError)) throw error;
    const place = { file, line: 1, column: 1 };
    return { value: null, places: new Map(), problems: [{ place, message: TOO_DEEP }] };
  }
  const wrong = [...document.errors, ...document.warnings];
  if (wrong.length > 0)
    return {
      ...{ value: null, places: new Map() },
      problems: wrong.map(({ pos, message }) => ({
        place: placeAt(pos[0]),
        message: /call stack/.test(message) ? TOO_DEEP : message,
      })),
    };
  const reader = new ValueReader(placeAt);
  const value = document.contents === null ? null : reader.read(document.contents, "", 0);
  return { value, places: reader.places, problems: reader.problems };
}

/** One segment of a JSON pointer (RFC 6901) with its slash. */
export function pointerTo(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

const TOO_DEEP = `has more than ${YAML_MAX_DEPTH} levels`;
const TOO_MANY = `has more than ${YAML_MAX_NODES} values, those counted that aliases repeat`;

class ValueReader {
  readonly places = new Map<string, Place>();
  readonly problems: PlacedProblem[] = [];
  readonly #placeAt: (offset: number) => Place;
  readonly #anchors = new Map<string, Node>();
  #nodes = 0;

  constructor(placeAt: (offset: number) => Place) {
    this.#placeAt = placeAt;
  }

  read(node: Node, pointer: string, depth: number): unknown {
    this.#nodes++;
    if (this.#nodes > YAML_MAX_NODES) return this.#once(node, TOO_MANY);
    if (depth > YAML_MAX_DEPTH) return this.#once(node, TOO_DEEP);
    if (!this.places.has(pointer)) this.places.set(pointer, this.#placeOf(node));
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target === undefined)
        return this.#wrong(node, `*${node.source} names nothing that stands before it`);
      return this.read(target, pointer, depth + 1);
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isSeq(node))
      return node.items.map((item, index) =>
        isNode(item) ? this.read(item, `${pointer}/${index}`, depth + 1) : null,
      );
    if (isMap(node)) return this.#map(node.items, pointer, depth);
    if (isScalar(node)) return this.#scalar(node, node.value);
    return this.#wrong(node, "is nothing that JSON has");
  }

  #map(pairs: readonly Pair[], pointer: string, depth: number): unknown {
    const members = new Map<string, unknown>();
    for (const { key, value } of pairs) {
      if (!isScalar(key)) {
        if (isNode(key)) this.#wrong(key, "is no key: only a text can be one");
        continue;
      }
      const name = typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
      if (members.has(name)) {
        this.#wrong(key, `${name} stands here twice`);
        continue;
      }
      const at = pointer + pointerTo(name);
      // Of what stands on several lines the key says best where it is.
      if (!isScalar(value)) this.places.set(at, this.#placeOf(key));
      members.set(name, isNode(value) ? this.read(value, at, depth + 1) : null);
      // Beyond the bound every further member would only say so again.
      if (this.#nodes > YAML_MAX_NODES) break;
    }
    return Object.fromEntries(members);
  }

  #scalar(node: Node, value: unknown): unknown {
    if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
    if (typeof value === "number" && Number.isFinite(value)) {
      if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
      return this.#wrong(node, "is a number with more digits than are kept: write it as a text");
    }
    return this.#wrong(node, "is nothing that JSON has");
  }

  /** The bound is passed once, however many values lie behind it. */
  #once(node: Node, message: string): null {
    if (!this.problems.some((problem) => problem.message === message)) this.#wrong(node, message);
    return null;
  }

  #wrong(node: Node, message: string): null {
    this.problems.push({ place: this.#placeOf(node), message });
    return null;
  }

  #placeOf(node: Node): Place {
    return this.#placeAt(node.range?.[0] ?? 0);
  }
}
