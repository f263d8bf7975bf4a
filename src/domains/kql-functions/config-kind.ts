import type { JsonObject } from "../../audit/canonical-json.ts";
import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { oneByOne, recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import type { KeptDirectory } from "../../kql/kept/kept-directory.ts";
import { createFunction, kqlFunctions, removeFunction, updateFunction } from "./functions.ts";
import { CreateKqlFunctionBody, UpdateKqlFunctionBody } from "./types.ts";

/** KQL functions as files describe them. */
export function kqlFunctionKind(kept: Pick<KeptDirectory, "forget">): ConfigKind {
  return configKind({
    kind: "kql-functions",
    audit: "KQL_FUNCTION",
    table: "kql_functions",
    read: { role: "viewer", scope: "logs:read" },
    write: { role: "member", scope: "logs:write" },
    create: CreateKqlFunctionBody,
    update: UpdateKqlFunctionBody,
    defaults: { parameters: "" },
    calls,
    list: recordsOf(kqlFunctions),
    ...verbsOf(
      { createAll: oneByOne(createFunction), update: updateFunction, remove: removeFunction },
      (change) => change.afterCommit(() => kept.forget(change.organizationId)),
    ),
  });
}

/** Whatever stands before a bracket in the body, other functions that it calls among it. */
function calls({ name, body }: JsonObject): string[] {
  if (typeof body !== "string") return [];
  const called = [...body.matchAll(/([A-Za-z_][A-Za-z0-9_]*)\s*\(/g)].map(([, word]) => word ?? "");
  return [...new Set(called)].filter((word) => word !== name);
}
