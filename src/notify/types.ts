import { type Static, Type } from "typebox";

const DateTime = (description: string) => Type.String({ format: "date-time", description });

export const WebhookSecret = Type.Object({
  secret: Type.String({ description: "`whsec_` and the key in base64, as Standard Webhooks has it." }),
  createdAt: DateTime("When it was made."),
  previousValidUntil: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description:
      "Until when deliveries carry a signature of the secret before this one too; null when none does.",
  }),
});
export type WebhookSecret = Static<typeof WebhookSecret>;
