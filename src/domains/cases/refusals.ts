import { type ApiError, validationFailed } from "../../errors.ts";

/** What names something that is not the organisation's, or cannot be. */
export function invalid(path: string, message: string): ApiError {
  return validationFailed([{ path, code: "custom", message }]);
}
