import type { TransactionSql } from "postgres";
import type { Principal } from "../../access/principal.ts";
import { actorOf } from "../../changes/actor.ts";
import type { Change } from "../../changes/change.ts";
import { type ApiError, type FieldIssue, validationFailed } from "../../errors.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { tryPlan } from "./apply.ts";
import type { Planned } from "./planning.ts";
import type { Reading } from "./present.ts";

/**
 * Finds out whether a plan can be made true, by doing it: what a verb judges, such as a query or a cap, no comparison can.
 * The caller undoes the transaction. Throws what the verbs refuse, with the places of the files.
 */
export async function rehearse(reading: Reading, planned: Planned, principal: Principal): Promise<void> {
  // As where it is applied, so that the two never wait for each other in a circle.
  await lockOrganization(reading.tx, reading.organizationId);
  const refusals = await tryPlan(mutedChange(reading.tx, reading, principal), planned);
  const [first] = refusals;
  if (first === undefined) return;
  if (refusals.length === 1) throw first;
  throw validationFailed(refusals.flatMap(issuesOf));
}

/** A change that nobody hears of. */
function mutedChange(tx: TransactionSql, { organizationId, nowMs }: Reading, principal: Principal): Change {
  const nothing = (): void => undefined;
  return {
    ...{ tx, organizationId, nowMs, actor: actorOf(principal) },
    ...{ record: nothing, emit: nothing, afterCommit: nothing },
  };
}

/** What is wrong with one record, without what only one kind of refusal says. */
function issuesOf({ fields = [] }: ApiError): FieldIssue[] {
  return fields.map(({ path, message }) => ({ path, code: "custom", message }));
}
