import { Resolver } from "node:dns/promises";
import { patient } from "../../../concurrency/patience.ts";
import { ApiError } from "../../../errors.ts";
import { TXT_TIMEOUT_MS, TXT_TRIES } from "./limits.ts";

/** Answers the texts of a name's TXT records; none when there is no such name. Throws UNAVAILABLE. */
export type TxtResolver = (name: string) => Promise<readonly string[]>;

/** Makes a resolver that asks these name servers (`address:port`), by default those of the operating system. */
export function createTxtResolver(servers?: readonly string[]): TxtResolver {
  return async (name) => {
    // One of its own for each question: it remembers answers, and somebody who asks again has just changed the record.
    const resolver = new Resolver({ timeout: patient(TXT_TIMEOUT_MS), tries: TXT_TRIES });
    if (servers !== undefined) resolver.setServers([...servers]);
    try {
      // A text longer than 255 bytes comes in pieces.
      return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(""));
    } catch (error) {
      if (isAbsent(error)) return [];
      throw new ApiError("UNAVAILABLE", "The name servers do not answer.", { cause: error });
    }
  };
}

function isAbsent(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && (error.code === "ENOTFOUND" || error.code === "ENODATA")
  );
}
