import { type Static, Type } from "typebox";
import { SEVERITIES } from "../../problems/events.ts";

const closed = { additionalProperties: false };

export const SeedBody = Type.Object(
  {
    packs: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: 50,
        description: "Ids of packs of the catalogue; all when absent.",
        examples: [["linux-auth"]],
      }),
    ),
    enable: Type.Optional(
      Type.Boolean({ description: "Whether the rules are evaluated; false by default." }),
    ),
  },
  { $id: "SeedLogAlerts", ...closed },
);

export const Seeded = Type.Object(
  {
    created: Type.Integer({ description: "Rules that were made." }),
    existing: Type.Integer({ description: "Rules that were there, and stay as they are." }),
    packs: Type.Array(
      Type.Object({
        id: Type.String(),
        sources: Type.String({ description: "What has to send logs." }),
        seen: Type.Union([Type.Boolean(), Type.Null()], {
          description:
            "Whether such entries came within seven days; null where the log store does not answer.",
        }),
      }),
    ),
  },
  { $id: "SeededLogAlerts" },
);
export type Seeded = Static<typeof Seeded>;

const Sample = Type.Object({}, { additionalProperties: true, description: "An entry as it is ingested." });

export const CatalogPack = Type.Object(
  {
    id: Type.String({ examples: ["linux-auth"] }),
    name: Type.String(),
    description: Type.String(),
    sources: Type.String({ description: "What has to send logs." }),
    rules: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        description: Type.String({ description: "What it means, and what to do about it." }),
        severity: Type.Enum([...SEVERITIES]),
        attackTechnique: Type.Union([Type.String(), Type.Null()]),
        kql: Type.String(),
        threshold: Type.Integer(),
        windowSec: Type.Integer(),
        groupBy: Type.Array(Type.String()),
        counts: Sample,
        leaves: Sample,
      }),
    ),
  },
  { $id: "AlertPack" },
);
export type CatalogPack = Static<typeof CatalogPack>;
