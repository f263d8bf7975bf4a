import type { DeliveryEnvelope } from "../decode/delivery-stream/delivery-envelope.ts";
import type { IngestIssue } from "../errors.ts";
import type { DecodedBody } from "./decode-body.ts";

/** What the thread that decodes answers. */
export type DecodeOutcome =
  | { readonly kind: "decoded"; readonly body: DecodedBody }
  | { readonly kind: "opened"; readonly envelope: DeliveryEnvelope }
  | { readonly kind: "rejected"; readonly message: string; readonly issues: readonly IngestIssue[] }
  | { readonly kind: "failed"; readonly error: unknown };
