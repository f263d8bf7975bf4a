import { type Static, Type } from "typebox";
import type { SealedChannels } from "../../notify/alert-channels.ts";

const NullableText = Type.Union([Type.String(), Type.Null()]);

/** What became of telling one channel. */
export const TestDelivery = Type.Object(
  {
    id: Type.Integer({ examples: [41] }),
    channel: Type.String({ examples: ["webhook"] }),
    state: Type.Enum(["pending", "delivered", "failed", "suppressed", "superseded"]),
    attempts: Type.Integer({ minimum: 0 }),
    lastCode: Type.Union([Type.Integer(), Type.Null()], {
      description: "The HTTP status of the last attempt.",
      examples: [200],
    }),
    lastError: NullableText,
  },
  { $id: "TestDelivery" },
);
type TestDelivery = Static<typeof TestDelivery>;

/** Whom a sample is sent to: the channels of a monitor, in the clear. */
interface TestAlertTarget {
  readonly organizationId: number;
  readonly monitor: { readonly id: number; readonly name: string };
  readonly alertEmail: string | null;
  readonly channels: SealedChannels;
}

/** Sends samples of alerts: what notifications do for monitors. */
export interface TestAlerts {
  /** Tells every channel that is set, and answers what became of the first attempts, 10 seconds later at the latest. */
  send(target: TestAlertTarget): Promise<TestDelivery[]>;
}
