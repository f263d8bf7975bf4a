import type { TSchema } from "typebox";
import type { FieldIssue, FieldIssueCode } from "../errors.ts";
import { pointerTo } from "./json-pointer.ts";

/** The branch of a union a value was meant for, or what to say when that cannot be told. */
type BranchChoice =
  | { kind: "branch"; schema: TSchema }
  | { kind: "issue" /** Its path is relative to the union. */; issue: FieldIssue };

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Picks the branch of a failed union that `value` was meant for: the only one of its JSON type, or the one whose
 * discriminator (a property every object branch fixes to another constant) it carries.
 */
export function chooseBranch(union: unknown, value: unknown): BranchChoice {
  const branches = branchesOf(union);
  const candidates = branches.filter((branch) => admitsType(branch, value));
  const [only] = candidates;
  if (only === undefined)
    return issue("invalid_type", `must be ${listed(branches.map((branch) => branch.type))}`);
  if (candidates.every((branch) => "const" in branch))
    return issue(
      "invalid_literal",
      `must be one of ${listed(
        candidates.map((branch) => JSON.stringify(branch.const)),
        ", ",
      )}`,
    );
  if (candidates.length === 1) return { kind: "branch", schema: only };
  return isJsonObject(value)
    ? chooseByDiscriminator(candidates, value)
    : issue("invalid_union", "matches none of the accepted forms");
}

function chooseByDiscriminator(branches: readonly JsonObject[], value: JsonObject): BranchChoice {
  const name = discriminatorOf(branches);
  if (name === undefined) return issue("invalid_union", "matches none of the accepted forms");
  const found = branches.find(
    (branch) => constantOf(branch, name) === value[name] && Object.hasOwn(value, name),
  );
  if (found !== undefined) return { kind: "branch", schema: found };
  const path = pointerTo(name);
  if (!Object.hasOwn(value, name)) return issue("invalid_type", "is required", path);
  const allowed = listed(
    branches.map((branch) => JSON.stringify(constantOf(branch, name))),
    ", ",
  );
  return issue("invalid_literal", `must be one of ${allowed}`, path);
}

function discriminatorOf(branches: readonly JsonObject[]): string | undefined {
  const [first] = branches;
  if (first === undefined || !isJsonObject(first.properties)) return undefined;
  return Object.keys(first.properties).find((name) => {
    const constants = branches.map((branch) => constantOf(branch, name));
    return !constants.includes(undefined) && new Set(constants).size === branches.length;
  });
}

function constantOf(branch: JsonObject, name: string): unknown {
  if (!isJsonObject(branch.properties) || !Object.hasOwn(branch.properties, name)) return undefined;
  const property = branch.properties[name];
  return isJsonObject(property) ? property.const : undefined;
}

/** The branches, those of unions inside the union included. */
function branchesOf(union: unknown): JsonObject[] {
  if (!isJsonObject(union)) return [];
  const branches = union.anyOf ?? union.oneOf;
  return Array.isArray(branches) ? branches.filter(isJsonObject).flatMap((branch) => nested(branch)) : [];
}

function nested(branch: JsonObject): JsonObject[] {
  return "anyOf" in branch || "oneOf" in branch ? branchesOf(branch) : [branch];
}

function admitsType(branch: JsonObject, value: unknown): boolean {
  switch (branch.type) {
    case undefined:
      return true;
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isJsonObject(value);
    case "integer":
      return typeof value === "number";
    default:
      return branch.type === typeof value;
  }
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listed(items: readonly unknown[], separator = " or "): string {
  return [...new Set(items)].map(String).join(separator);
}

function issue(code: FieldIssueCode, message: string, path = ""): BranchChoice {
  return { kind: "issue", issue: { path, code, message } };
}
