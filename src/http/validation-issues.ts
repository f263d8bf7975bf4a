import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { Errors } from "typebox/value";
import type { FieldIssue, FieldIssueCode } from "../errors.ts";
import { MAX_FIELD_ISSUES } from "../errors.ts";
import { followPointer, pointerTo } from "./json-pointer.ts";
import { MAX_PATH_CHARS } from "./limits.ts";
import { chooseBranch } from "./union-branch.ts";

const UNKNOWN_FIELD = "is not a known field";

type UnionError = Extract<TLocalizedValidationError, { keyword: "anyOf" | "oneOf" }>;

/**
 * Says why `value` violates `schema`: JSON pointers (RFC 6901) and the codes of errors.ts, the first issue of each
 * path and code, at most MAX_FIELD_ISSUES. A value that is valid has none.
 */
export function explainIssues(schema: TSchema, value: unknown): FieldIssue[] {
  const issues = new Issues();
  explain(schema, value, "", issues);
  return issues.list();
}

/** Keeps the first issue of each path and code, up to the bound. */
class Issues {
  readonly #byKey = new Map<string, FieldIssue>();

  add({ path, code, message }: FieldIssue): void {
    if (this.#byKey.size >= MAX_FIELD_ISSUES) return;
    // Names in it may be the caller's, and as long as they please.
    const shortPath = path.slice(0, MAX_PATH_CHARS).toWellFormed();
    const key = `${code} ${shortPath}`;
    if (!this.#byKey.has(key)) this.#byKey.set(key, { path: shortPath, code, message });
  }

  list(): FieldIssue[] {
    return [...this.#byKey.values()];
  }
}

function explain(schema: TSchema, value: unknown, base: string, issues: Issues): void {
  const errors = Errors(schema, value);
  const unions = errors.filter(isUnionError);
  for (const error of errors) {
    // What the branches of a failed union say is noise: all but one of them were never meant.
    if (unions.some((union) => isInsideUnion(error, union))) continue;
    if (isUnionError(error)) explainUnion(schema, value, error, base, issues);
    else for (const issue of issuesOf(error, base + error.instancePath)) issues.add(issue);
  }
}

function explainUnion(
  schema: TSchema,
  value: unknown,
  error: UnionError,
  base: string,
  issues: Issues,
): void {
  const path = base + error.instancePath;
  const member = followPointer(value, error.instancePath);
  const choice = chooseBranch(followPointer(schema, error.schemaPath.slice(1)), member);
  if (choice.kind === "branch") explain(choice.schema, member, path, issues);
  else issues.add({ ...choice.issue, path: path + choice.issue.path });
}

function issuesOf(error: TLocalizedValidationError, path: string): FieldIssue[] {
  switch (error.keyword) {
    case "additionalProperties":
      return error.params.additionalProperties.map((name) => ({
        path: path + pointerTo(name),
        code: "unrecognized_keys",
        message: UNKNOWN_FIELD,
      }));
    case "required":
      return error.params.requiredProperties.map((name) => ({
        path: path + pointerTo(name),
        code: "invalid_type",
        message: "is required",
      }));
    case "boolean":
      // One for each unknown field, before additionalProperties lists them; the list is missing when they are many.
      return error.schemaPath.endsWith("/additionalProperties")
        ? [{ path, code: "unrecognized_keys", message: UNKNOWN_FIELD }]
        : [{ path, code: "custom", message: error.message }];
    case "pattern":
      return [{ path, code: "invalid_string", message: "does not have the expected form" }];
    case "const":
      return [
        { path, code: "invalid_literal", message: `must be ${JSON.stringify(error.params.allowedValue)}` },
      ];
    case "enum": {
      const allowed = error.params.allowedValues.map((value) => JSON.stringify(value)).join(", ");
      return [{ path, code: "invalid_literal", message: `must be one of ${allowed}` }];
    }
    case "~refine":
      return [{ path, code: "custom", message: error.params.message }];
    default:
      return [{ path, code: CODE_OF_KEYWORD[error.keyword] ?? "custom", message: error.message }];
  }
}

const CODE_OF_KEYWORD: Readonly<Record<string, FieldIssueCode>> = {
  type: "invalid_type",
  format: "invalid_string",
  minimum: "too_small",
  exclusiveMinimum: "too_small",
  minLength: "too_small",
  minItems: "too_small",
  minProperties: "too_small",
  maximum: "too_big",
  exclusiveMaximum: "too_big",
  maxLength: "too_big",
  maxItems: "too_big",
  maxProperties: "too_big",
};

function isUnionError(error: TLocalizedValidationError): error is UnionError {
  return error.keyword === "anyOf" || error.keyword === "oneOf";
}

function isInsideUnion(error: TLocalizedValidationError, union: UnionError): boolean {
  return (
    error.schemaPath.startsWith(`${union.schemaPath}/${union.keyword}/`) &&
    (error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`))
  );
}
