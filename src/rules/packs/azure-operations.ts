import type { ListedSource } from "./listed-rules.ts";
import { azureOperation } from "./samples.ts";

/** An operation is told of when it begins, too. */
export const SUCCEEDED = ' and resultType in~ ("Success", "Succeeded")';

/** Operations of the activity log, whose names come in any case. */
export const OPERATIONS: ListedSource = {
  ...{ field: "operationName", operator: "in~", also: SUCCEEDED, groupBy: ["sourceAddress"] },
  ...{ sample: azureOperation, ordinary: "Microsoft.Resources/tags/write" },
};

export const EXPECTS = {
  sources: "the activity log of Azure, by a source with the preset azure-activity",
  kql: "isnotempty(operationName) and isnotempty(resourceId)",
};
