import type { Sql, TransactionSql } from "postgres";
import { checkKeptFunction, isTakenName, type KeptNames } from "../../../query/index.ts";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { functionInvalid } from "../../kql/issues.ts";
import { namesWithin } from "../../kql/kept/kept-directory.ts";
import { FUNCTION_VERSIONS_MAX, FUNCTIONS_MAX } from "../../kql/kept/limits.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization, lockOrganization } from "../../storage/organization-transaction.ts";
import {
  type CreateKqlFunctionBody,
  KqlFunction,
  type KqlFunctionVersion,
  type UpdateKqlFunctionBody,
} from "./types.ts";

interface Stored {
  readonly parameters: string;
  readonly version: number;
}

type NewFunction = CreateKqlFunctionBody & Stored;
type ChangedFunction = Omit<UpdateKqlFunctionBody, "parameters"> & Partial<Stored>;

export const kqlFunctions = new Records<typeof KqlFunction, NewFunction, ChangedFunction>({
  noun: "KQL function",
  table: "kql_functions",
  schema: KqlFunction,
  maxPerOrganization: FUNCTIONS_MAX,
  check: checkFunction,
});

export function listFunctions(sql: Sql, organizationId: number): Promise<KqlFunction[]> {
  return kqlFunctions.list(sql, organizationId);
}

/** Throws NOT_FOUND. */
export function readFunction(sql: Sql, organizationId: number, id: number): Promise<KqlFunction> {
  return kqlFunctions.read(sql, organizationId, id);
}

/** Throws CONFLICT for a name that is taken, and KQL_INVALID for what does not compile. */
export async function createFunction(change: Change, body: CreateKqlFunctionBody): Promise<KqlFunction> {
  const made = await kqlFunctions.create(change, { ...body, parameters: body.parameters ?? "", version: 1 });
  await keepVersion(change, made);
  return made;
}

/** Other parameters or another body are another version; the one before can still be read. Throws as `createFunction` does. */
export async function updateFunction(
  change: Change,
  id: number,
  { parameters, ...fields }: UpdateKqlFunctionBody,
): Promise<KqlFunction> {
  const { tx, organizationId } = change;
  // Of two that change it at once each makes a version of its own.
  await lockOrganization(tx, organizationId);
  const [before] = await tx<{ parameters: string; body: string; version: number }[]>`
    SELECT parameters, body, version FROM kql_functions WHERE organization_id = ${organizationId} AND id = ${id}`;
  // Null takes the parameters away.
  const wanted = parameters === undefined ? before?.parameters : (parameters ?? "");
  const isNew =
    before !== undefined && (wanted !== before.parameters || (fields.body ?? before.body) !== before.body);
  const after = await kqlFunctions.update(change, id, {
    ...fields,
    ...(wanted !== undefined && { parameters: wanted }),
    ...(isNew && { version: before.version + 1 }),
  });
  if (isNew) await keepVersion(change, after);
  return after;
}

export const removeFunction = kqlFunctions.remove;

/** The newest first. Throws NOT_FOUND. */
export async function listVersions(
  sql: Sql,
  organizationId: number,
  id: number,
): Promise<KqlFunctionVersion[]> {
  await readFunction(sql, organizationId, id);
  const rows = await askPostgres(() =>
    inOrganization(
      sql,
      organizationId,
      (tx) => tx<{ version: number; parameters: string; body: string; created_at: Date }[]>`
        SELECT version, parameters, body, created_at FROM kql_function_versions
        WHERE organization_id = ${organizationId} AND function_id = ${id} ORDER BY version DESC`,
    ),
  );
  return rows.map(({ created_at: createdAt, ...rest }) => ({ ...rest, createdAt: createdAt.toISOString() }));
}

async function keepVersion(
  { tx, organizationId, nowMs }: Change,
  { id, version, parameters, body }: KqlFunction,
): Promise<void> {
  await tx`
    INSERT INTO kql_function_versions (function_id, version, organization_id, parameters, body, created_at)
    VALUES (${id}, ${version}, ${organizationId}, ${parameters}, ${body}, ${new Date(nowMs)})`;
  await tx`
    DELETE FROM kql_function_versions
    WHERE organization_id = ${organizationId} AND function_id = ${id} AND version <= ${version - FUNCTION_VERSIONS_MAX}`;
}

async function checkFunction(
  fields: NewFunction | ChangedFunction,
  before: KqlFunction | null,
  { tx, organizationId, nowMs }: Change,
): Promise<void> {
  await lockOrganization(tx, organizationId);
  const name = fields.name ?? before?.name ?? "";
  if (name !== before?.name) await checkKeptName(tx, organizationId, name);
  const kept = {
    name,
    parameters: fields.parameters ?? before?.parameters ?? "",
    body: fields.body ?? before?.body ?? "",
  };
  const others = withoutFunction(await namesWithin(tx, organizationId), before?.name);
  const diagnostics = checkKeptFunction(kept, others, BigInt(nowMs) * 1_000_000n);
  if (diagnostics.length > 0) throw functionInvalid(diagnostics);
}

function withoutFunction({ functions, tables }: KeptNames, name: string | undefined): KeptNames {
  return { functions: new Map([...functions].filter(([other]) => other !== name)), tables };
}

/** Functions and tables share one space of names. Throws VALIDATION_FAILED for a name of the language, CONFLICT for one in use. */
async function checkKeptName(tx: TransactionSql, organizationId: number, name: string): Promise<void> {
  if (isTakenName(name))
    throw validationFailed([
      {
        path: "/name",
        code: "custom",
        message: `${name} is a name of the language itself; choose another one`,
      },
    ]);
  const { functions, tables } = await namesWithin(tx, organizationId);
  if (functions.has(name) || tables.has(name))
    throw new ApiError("CONFLICT", `There is a ${tables.has(name) ? "table" : "function"} of this name.`);
}
