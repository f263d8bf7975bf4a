import type { Assertion } from "../check.ts";
import { valueAt } from "./dotted-path.ts";

/** What a step got, as assertions look at it. */
export interface StepAnswer {
  readonly status: number;
  readonly responseTimeMs: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined for a text that is no JSON. */
  readonly json: unknown;
}

/** Whether an answer is as a person said it must be. What compares with a value and has none never holds. */
export function holds(assertion: Assertion, answer: StepAnswer): boolean {
  // Of what is no JSON nothing is known, not even that something is missing in it.
  if (assertion.source === "body_json" && answer.json === undefined) return false;
  const actual = sourceOf(assertion, answer);
  const { comparison, value } = assertion;
  if (comparison === "exists") return actual !== undefined;
  if (comparison === "not_exists") return actual === undefined;
  if (value === undefined) return false;
  switch (comparison) {
    case "eq":
      return isEqual(actual, value);
    case "ne":
      return !isEqual(actual, value);
    case "contains":
      return contains(actual, value);
    case "not_contains":
      return !contains(actual, value);
    case "gt":
      return numberOf(actual) > numberOf(value);
    case "lt":
      return numberOf(actual) < numberOf(value);
  }
}

/** A value as text: texts as they are, all else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function sourceOf({ source, path = "" }: Assertion, answer: StepAnswer): unknown {
  switch (source) {
    case "status_code":
      return answer.status;
    case "response_time_ms":
      return answer.responseTimeMs;
    case "body_text":
      return answer.text;
    case "body_json":
      return valueAt(answer.json, path);
    case "header":
      return headerOf(answer.headers, path);
  }
}

/** Undefined when there is none, and for what cannot be a name. */
export function headerOf(headers: Headers, name: string): string | undefined {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) ? (headers.get(name) ?? undefined) : undefined;
}

/** A number is equal to its text, in whatever way either is written. */
function isEqual(actual: unknown, expected: string | number): boolean {
  if (actual === undefined) return false;
  const number = numberOf(actual);
  if (typeof actual !== typeof expected && !Number.isNaN(number)) return number === numberOf(expected);
  return textOf(actual) === textOf(expected);
}

/** One of the elements of a list, or a part of a text. */
function contains(actual: unknown, expected: string | number): boolean {
  if (actual === undefined) return false;
  if (Array.isArray(actual)) return actual.some((element) => isEqual(element, expected));
  return textOf(actual).includes(String(expected));
}

/** NaN for what is no number, which is neither greater nor less than any. */
function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
}
