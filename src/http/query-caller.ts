import type { QueryCaller } from "../storage/query-runner.ts";
import type { AuthenticatedContext } from "./route.ts";

/** On whose behalf a request asks the log store. */
export function callerOf({ principal, request, answerMemory }: AuthenticatedContext): QueryCaller {
  const { organizationId, userId } = principal;
  return { organizationId, userId, signal: request.signal, memory: answerMemory };
}
