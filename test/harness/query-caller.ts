import { AnswerMemory } from "../../src/concurrency/answer-memory.ts";
import type { QueryCaller } from "../../src/storage/query-runner.ts";

const UNBOUNDED = { ofCaller: 2 ** 40, ofOrganization: 2 ** 40, ofAll: 2 ** 40 };

/** A caller whose answers may hold any number of bytes. */
export function queryCaller(
  signal: AbortSignal = new AbortController().signal,
  organizationId = 7,
): QueryCaller {
  const memory = new AnswerMemory(UNBOUNDED).open({ caller: "user:1", organizationId });
  return { organizationId, userId: 1, signal, memory };
}
