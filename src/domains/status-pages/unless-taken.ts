import { ApiError } from "../../errors.ts";

const UNIQUE_VIOLATION = "23505";

/** Slugs and hosts are everyone's, so only the table itself knows which are taken. Throws CONFLICT. */
export async function unlessTaken<T>(written: PromiseLike<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== UNIQUE_VIOLATION) throw error;
    throw new ApiError("CONFLICT", "The slug or the host is taken.");
  }
}
