import type { DecodeJob } from "./decode-body.ts";

/** What the thread is asked: what a body holds, or what a delivery stream has put into an envelope. */
export type ThreadTask =
  | ({ readonly task: "decode" } & DecodeJob)
  | { readonly task: "open"; readonly organizationId: number; readonly body: Uint8Array };
