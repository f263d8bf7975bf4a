import { IngestRejectedError } from "../../errors.ts";

/** Refuses a request that is of another shape than the protocol's at `path`. */
export function refused(path: string, problem: string): IngestRejectedError {
  const message = path === "" ? problem : `${path} ${problem}`;
  return new IngestRejectedError(message, [{ path, code: "invalid_type", message: problem }]);
}
