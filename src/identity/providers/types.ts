import { type Static, Type } from "typebox";
import { PROVIDER_IDS } from "./provider.ts";

const Nullable = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()]);

export const OfferedProvider = Type.Object(
  {
    id: Type.Enum([...PROVIDER_IDS]),
    name: Type.String({ description: "What people read on the button.", examples: ["Example ID"] }),
    startUrl: Type.String({
      description: "Where to send the browser; takes `returnTo`.",
      examples: ["https://obs.example.com/api/v1/auth/idp-a/start"],
    }),
  },
  { $id: "OfferedProvider" },
);
export type OfferedProvider = Static<typeof OfferedProvider>;

export const LinkedIdentity = Type.Object(
  {
    provider: Type.Enum([...PROVIDER_IDS]),
    name: Type.String({ examples: ["Example ID"] }),
    email: Nullable(
      Type.String({ description: "As the provider gave it last.", examples: ["ana@example.com"] }),
    ),
    linkedAt: Type.String({ format: "date-time" }),
    lastUsedAt: Nullable(Type.String({ format: "date-time" })),
  },
  { $id: "LinkedIdentity" },
);
export type LinkedIdentity = Static<typeof LinkedIdentity>;
