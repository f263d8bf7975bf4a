import { type Static, Type } from "typebox";
import { ENTITY_TYPES } from "../../entities/entity-key.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { Severity } from "../../problems/events.ts";
import { NEIGHBORS_DEFAULT, NEIGHBORS_MAX } from "./limits.ts";

const Time = Type.String({ format: "date-time" });
const EntityType = Type.Enum([...ENTITY_TYPES], { examples: ["host"] });
const Key = Type.String({ examples: ["web-1"] });

export const LookupParameters = Type.Object({
  type: EntityType,
  key: Type.String({
    minLength: 1,
    maxLength: 512,
    description: "In any spelling; of monitors, incidents, detections and cases their id.",
    examples: ["web-1"],
  }),
});

export const EntityParams = IdParams;

const Named = Type.Object({ id: Type.Integer({ examples: [31] }), type: EntityType, key: Key });

const Risk = Type.Object({
  score: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: "100 · (1 − Π(1 − weight · decay)) · factor",
  }),
  factor: Type.Number({ description: "By the criticality of the asset or the risk of the identity." }),
  terms: Type.Array(
    Type.Object({
      incidentId: Type.Integer(),
      title: Type.String(),
      severity: Severity,
      weight: Type.Number(),
      ageDays: Type.Number(),
      decay: Type.Number({ description: "Half after seven days." }),
      contribution: Type.Number({ description: "weight · decay" }),
    }),
  ),
});

export const Entity = Type.Object(
  {
    ...Named.properties,
    name: Type.String({ examples: ["web-1"] }),
    attrs: Type.Record(Type.String(), Type.Unknown(), {
      description: "What its record says; of an address `place`, where a database of places knows it.",
    }),
    firstSeen: Time,
    lastSeen: Time,
    source: Type.Enum(["record", "observed"]),
    canonical: Type.Union([Named, Type.Null()], { description: "What this is only another name of." }),
    aliases: Type.Array(Named, { description: "Other names of it." }),
    risk: Risk,
  },
  { $id: "Entity" },
);
export type Entity = Static<typeof Entity>;

export const Lookup = Type.Object({ entity: Type.Union([Entity, Type.Null()]) });

export const NeighborParameters = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: NEIGHBORS_MAX, default: NEIGHBORS_DEFAULT })),
  type: Type.Optional(EntityType),
  from: Type.Optional(Type.String({ format: "date-time", description: "Seen then or later." })),
  to: Type.Optional(Type.String({ format: "date-time", description: "Seen before." })),
});

export const Neighbors = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        kind: Type.Enum([
          "runs_on",
          "logged_in_from",
          "resolved",
          "matched",
          "triggered",
          "evidence_of",
          "calls",
          "uses",
        ]),
        direction: Type.Enum(["out", "in"], {
          description: "`out` where this entity does it, `in` where it is done to it.",
        }),
        entity: Type.Object({
          id: Type.Union([Type.Integer(), Type.Null()], {
            description: "Null for one that is no longer kept.",
          }),
          type: EntityType,
          key: Key,
          name: Type.String(),
        }),
        count: Type.Integer(),
        firstSeen: Time,
        lastSeen: Time,
        sampleEntryId: Type.Union([Type.String(), Type.Null()], { description: "An entry that shows it." }),
      }),
    ),
    total: Type.Integer({
      description:
        "All of them, those that are not listed included; of incidents and of indicators the 10000 that were seen last.",
    }),
    byType: Type.Record(Type.String(), Type.Integer(), { description: "How many of each type." }),
  },
  { $id: "Neighbors" },
);
export type Neighbor = Static<typeof Neighbors>["items"][number];
