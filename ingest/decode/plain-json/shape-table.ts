import { JSON_OBJECT, JSON_STRING, type JsonTape } from "../json-tape.ts";
import {
  LEARNING_COST,
  LEARNING_SAVED_MAX,
  SHAPE_BRANCHES_MAX,
  SHAPE_MEMBERS_MAX,
  SHAPE_NAME_MAX_BYTES,
  SHAPE_NODES_MAX,
} from "./limits.ts";

/** Names that are indexes come first among the members of a parsed object, wherever they stood. */
const INDEX = /^\d+$/;

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** The names from the record's own member down to a value. */
export type MemberPath = readonly string[];

/** A position in a record: what may follow there. */
interface Node<P> {
  readonly branches: Branch<P>[];
  /** Behind the end of an object that ends here. */
  closed: Node<P> | null;
  /** What records that end here have in common. */
  plan: P | null;
}

interface Branch<P> {
  readonly name: Uint8Array;
  /** Behind a value. */
  value: Node<P> | null;
  /** Inside an object, which has members. */
  object: Node<P> | null;
}

/** A record's members in their order: a name with a value, a name with an object that begins, or the end of that object. */
type Step = { readonly kind: "value" | "object"; readonly name: Uint8Array } | { readonly kind: "end" };

interface Outline {
  readonly steps: readonly Step[];
  readonly paths: readonly MemberPath[];
}

/**
 * The shapes of records that came before: which names they have, in which order and inside which objects. Records of a
 * sender are alike, so what follows from the names is found out once for each shape and not for each record.
 */
export class ShapeTable<P> {
  readonly #isNested: boolean;
  readonly #makePlan: (paths: readonly MemberPath[]) => P | null;
  #root: Node<P> = newNode();
  #nodes = 1;
  #saved = LEARNING_SAVED_MAX;
  /** Where the objects around the present position end. */
  readonly #ends = new Uint32Array(SHAPE_MEMBERS_MAX);

  /** With `isNested` objects with members belong to the shape, otherwise they are values. */
  constructor(isNested: boolean, makePlan: (paths: readonly MemberPath[]) => P | null) {
    this.#isNested = isNested;
    this.#makePlan = makePlan;
  }

  /**
   * The plan for the record at `object`, with the tokens of its values in their order in `values`; null for a record of
   * which no plan is known, among them all whose names are given twice, are written with escapes or are too many.
   */
  find(tape: JsonTape, object: number, values: Uint32Array): P | null {
    if (this.#saved < LEARNING_SAVED_MAX) this.#saved++;
    const plan = this.#follow(tape, object, values);
    if (plan !== null) return plan;
    if (this.#saved < LEARNING_COST) return null;
    this.#saved -= LEARNING_COST;
    const outline = outlineOf(tape, object, this.#isNested);
    if (outline === null) return null;
    this.#learn(outline);
    return this.#follow(tape, object, values);
  }

  #follow(tape: JsonTape, object: number, values: Uint32Array): P | null {
    const { kinds, ends } = tape;
    const outer = this.#ends;
    let node = this.#root;
    let end = ends[object] ?? 0;
    let depth = 0;
    let count = 0;
    for (let name = object + 1; ; ) {
      if (name === end) {
        if (depth === 0) return node.plan;
        if (node.closed === null) return null;
        node = node.closed;
        end = outer[--depth] ?? 0;
        continue;
      }
      const branch = kinds[name] === JSON_STRING ? findBranch(node.branches, tape, name) : null;
      if (branch === null) return null;
      const value = name + 1;
      const isObject = kinds[value] === JSON_OBJECT && this.#isNested && (ends[value] ?? 0) > value + 1;
      const next = isObject ? branch.object : branch.value;
      if (next === null) return null;
      node = next;
      if (isObject) {
        outer[depth++] = end;
        end = ends[value] ?? 0;
        name = value + 1;
      } else {
        values[count++] = value;
        name = tape.next(value);
      }
    }
  }

  #learn({ steps, paths }: Outline): void {
    if (this.#nodes + steps.length > SHAPE_NODES_MAX) {
      this.#root = newNode();
      this.#nodes = 1;
    }
    let node = this.#root;
    for (const step of steps) {
      if (step.kind === "end") {
        node.closed ??= this.#newNode();
        node = node.closed;
        continue;
      }
      const branch = branchFor(node.branches, step.name);
      branch[step.kind] ??= this.#newNode();
      node = branch[step.kind] ?? node;
    }
    node.plan = this.#makePlan(paths);
  }

  #newNode(): Node<P> {
    this.#nodes++;
    return newNode();
  }
}

function newNode<P>(): Node<P> {
  return { branches: [], closed: null, plan: null };
}

function findBranch<P>(branches: Branch<P>[], tape: JsonTape, name: number): Branch<P> | null {
  const { source } = tape;
  const start = tape.starts[name] ?? 0;
  const length = (tape.ends[name] ?? 0) - start;
  for (let i = 0; i < branches.length; i++) {
    const branch = branches[i];
    if (branch === undefined || branch.name.length !== length) continue;
    const bytes = branch.name;
    let at = 0;
    while (at < length && bytes[at] === source[start + at]) at++;
    if (at < length) continue;
    moveForward(branches, i);
    return branch;
  }
  return null;
}

/** The branch of a name, made now if there is none. */
function branchFor<P>(branches: Branch<P>[], name: Uint8Array): Branch<P> {
  const known = branches.find((branch) => Buffer.compare(branch.name, name) === 0);
  if (known !== undefined) return known;
  const branch: Branch<P> = { name, value: null, object: null };
  // The last one is the one that is found least often.
  if (branches.length === SHAPE_BRANCHES_MAX) branches.pop();
  branches.push(branch);
  return branch;
}

/** Branches that are found often come to be tried first. */
function moveForward<P>(branches: Branch<P>[], index: number): void {
  const [before, found] = [branches[index - 1], branches[index]];
  if (before === undefined || found === undefined) return;
  branches[index - 1] = found;
  branches[index] = before;
}

/** The names of a record; null for one that cannot have a shape. */
function outlineOf(tape: JsonTape, object: number, isNested: boolean): Outline | null {
  const steps: Step[] = [];
  const paths: MemberPath[] = [];
  return addMembers(tape, object, isNested, [], steps, paths) ? { steps, paths } : null;
}

/** Bounded by the nesting of the tape and the count of members. */
function addMembers(
  tape: JsonTape,
  object: number,
  isNested: boolean,
  outer: MemberPath,
  steps: Step[],
  paths: MemberPath[],
): boolean {
  const names = new Set<string>();
  const end = tape.ends[object] ?? 0;
  for (let token = object + 1; token < end; token = tape.next(token + 1)) {
    if (steps.length >= SHAPE_MEMBERS_MAX || tape.kinds[token] !== JSON_STRING) return false;
    const name = tape.source.slice(tape.starts[token], tape.ends[token]);
    const text = utf8.decode(name);
    const path = [...outer, text];
    if (names.has(text) || INDEX.test(text) || Buffer.byteLength(path.join(".")) > SHAPE_NAME_MAX_BYTES)
      return false;
    names.add(text);
    const value = token + 1;
    const isObject = isNested && tape.kinds[value] === JSON_OBJECT && (tape.ends[value] ?? 0) > value + 1;
    steps.push({ kind: isObject ? "object" : "value", name });
    if (!isObject) paths.push(path);
    else if (!addMembers(tape, value, isNested, path, steps, paths)) return false;
    if (isObject) steps.push({ kind: "end" });
  }
  return true;
}
