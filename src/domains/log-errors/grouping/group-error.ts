import { createHash } from "node:crypto";
import { Tokenizer } from "../../../mining/tokenizer.ts";
import { type ExceptionChain, headOf, type StackFrame } from "../../../stack-traces/frame.ts";
import { parseStack, type Runtime } from "../../../stack-traces/parse-stack.ts";
import { type ErrorEntry, errorTextOf } from "./error-text.ts";
import {
  CULPRIT_MAX_CHARS,
  FORM_MAX_CHARS,
  KEY_FRAMES_MAX,
  MESSAGE_MAX_CHARS,
  TITLE_MAX_CHARS,
  TYPE_MAX_CHARS,
} from "./limits.ts";

/** What an error is and which others it belongs to. */
export interface GroupedError {
  /** 128 bits in base 16: equal ones are one group of an organisation. */
  readonly fingerprint: string;
  /** What the fingerprint was made of. */
  readonly by: "attribute" | "frames" | "message";
  /** Of the deepest cause; empty where nothing says it. */
  readonly type: string;
  readonly message: string;
  /** `Type: message`, of which the first line. */
  readonly title: string;
  /** The innermost call in the program's own code; empty without any. */
  readonly culprit: string;
  /** Null without a stack. */
  readonly runtime: Runtime | null;
  /** Of the cause that it is known by, the innermost first. */
  readonly frames: readonly StackFrame[];
  /** What the group is known by besides service and type: calls, or the fingerprint that was given. */
  readonly keys: readonly string[];
}

const LOUD = new Set(["error", "fatal"]);
const tokenizer = new Tokenizer();

/** The group of an entry; null for one that is no error. Depends on nothing but the entry, and never throws. */
export function groupError(entry: ErrorEntry): GroupedError | null {
  const text = errorTextOf(entry);
  const isLoud = LOUD.has(entry.level);
  if (!isLoud && !text.isException && !text.isPerhaps) return null;
  const trace = traceOf(text.stack, entry.message);
  if (!isLoud && !text.isException && trace === null) return null;
  const chain = trace?.chain ?? [];
  // Some causes fail in libraries only: then the call that led there is what tells.
  const known = chain.find(({ frames }) => keysOf(frames).length > 0) ?? chain[0];
  const deepest = chain[0];
  const head = trace === null ? headOf(firstLine(text.message === "" ? entry.message : text.message)) : null;
  const type = (first(deepest?.type, text.type, head?.type) ?? "").slice(0, TYPE_MAX_CHARS);
  // Of a chain the message of the cause, else what the sender says the message is.
  const causes = chain.length > 1 ? deepest?.message : undefined;
  const message = first(causes, text.message, deepest?.message, head?.message, entry.message) ?? "";
  const keys = known === undefined ? [] : keysOf(known.frames);
  const given = givenFingerprint(entry);
  const by = given !== null ? "attribute" : keys.length > 0 ? "frames" : "message";
  const parts =
    by === "attribute" ? [given] : [entry.service, type, ...(by === "frames" ? keys : [formOf(message)])];
  const culprit = known?.frames.find(({ inApp, isTelling }) => inApp && isTelling);
  return {
    fingerprint: hashOf([by, ...parts]),
    by,
    type,
    message: message.slice(0, MESSAGE_MAX_CHARS),
    title: titleOf(type, message),
    culprit: culprit === undefined ? "" : placeOf(culprit).slice(0, CULPRIT_MAX_CHARS),
    runtime: trace?.runtime ?? null,
    frames: known?.frames ?? [],
    keys: given === null ? keys : [given.slice(0, MESSAGE_MAX_CHARS)],
  };
}

/** The exceptions that an entry tells of, the deepest cause first; none where it has no stack. */
export function exceptionsOf(entry: ErrorEntry): ExceptionChain {
  const { stack } = errorTextOf(entry);
  return traceOf(stack, entry.message)?.chain ?? [];
}

/** The stack that an attribute holds, else that in the message. */
function traceOf(stack: string, message: string) {
  return (stack === "" ? null : parseStack(stack)) ?? parseStack(message);
}

/** Each place once, so that how deep a recursion went is not told. */
function keysOf(frames: readonly StackFrame[]): string[] {
  const keys = new Set<string>();
  for (const { inApp, isTelling, function: name, module } of frames) {
    if (!inApp || !isTelling) continue;
    keys.add(`${module} ${name}`);
    if (keys.size === KEY_FRAMES_MAX) break;
  }
  return [...keys];
}

function placeOf({ function: name, module }: StackFrame): string {
  if (module === "") return name;
  return name === "" ? module : `${name} (${module})`;
}

function givenFingerprint({ attrs }: ErrorEntry): string | null {
  const given = attrs.fingerprint?.trim() ?? "";
  return given === "" || given === "null" || given === "[]" ? null : given;
}

/** What messages have in common that differ in their values alone. */
export function formOf(message: string): string {
  tokenizer.read(message.slice(0, FORM_MAX_CHARS));
  return tokenizer.form();
}

function titleOf(type: string, message: string): string {
  const line = firstLine(message);
  const title = type === "" ? line : line === "" || line === type ? type : `${type}: ${line}`;
  return (title === "" ? "(no message)" : title).slice(0, TITLE_MAX_CHARS);
}

function firstLine(text: string): string {
  const line = text.trimStart();
  const end = line.search(/[\r\n]/);
  return (end === -1 ? line : line.slice(0, end)).trim();
}

function first(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.find((text) => text !== undefined && text !== "");
}

function hashOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
