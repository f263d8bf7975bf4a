import { type Static, type TSchema, Type } from "typebox";
import { Set as setFormat } from "typebox/format";
import { Settings } from "typebox/system";
import type { FieldIssue } from "../errors.ts";
import { lateCheck } from "../late-check.ts";
import { isDateTime, isEmail, isHttpUri } from "./formats.ts";
import { MAX_SCHEMA_ERRORS } from "./limits.ts";
import { explainIssues } from "./validation-issues.ts";

// TypeBox keeps its settings and formats process-wide. They are set where every schema is compiled, once, to constants.
Settings.Set({ maxErrors: MAX_SCHEMA_ERRORS });
setFormat("date-time", isDateTime);
setFormat("email", isEmail);
setFormat("uri", isHttpUri);

/** A schema for checking: a type guard that is fast, and the reasons why a value failed it, which may be slow. */
export interface Checker<S extends TSchema> {
  check(value: unknown): value is Static<S>;
  /** At most 100 issues, never none for a value that fails `check`. */
  issues(value: unknown): FieldIssue[];
}

const NOTHING = Type.Object({}, { additionalProperties: false });

/**
 * A checker of a schema, compiled when it is first asked; where there is none, only `{}` passes. The formats known are
 * date-time, email, uri (http and https) and TypeBox's own.
 */
export function compileSchema<S extends TSchema>(declared: S | undefined): Checker<S> {
  const schema = declared ?? NOTHING;
  const form = lateCheck(schema);
  return {
    check: (value): value is Static<S> => form.Check(value),
    issues: (value) => explainIssues(schema, value),
  };
}
