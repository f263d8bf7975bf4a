import { type Static, Type } from "typebox";

const DateTime = (description: string) => Type.String({ format: "date-time", description });

export const WebhookSecret = Type.Object(
  {
    secret: Type.String({
      description: "`whsec_` and the key in base64, as Standard Webhooks has it.",
      examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    }),
    createdAt: DateTime("When it was made."),
    previousValidUntil: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
      description:
        "Until when deliveries carry a signature of the secret before this one too; null when none does.",
    }),
  },
  { $id: "WebhookSecret" },
);
export type WebhookSecret = Static<typeof WebhookSecret>;
