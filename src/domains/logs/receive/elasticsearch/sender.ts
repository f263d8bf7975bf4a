import { Type } from "typebox";
import { authorizationToken } from "../../../../receive/authorization-token.ts";

/** Clients refuse to talk to a server that does not say this. */
export const SENDER_HEADERS = { "x-elastic-product": "Elasticsearch" };

/** What every route for Elasticsearch clients has in common. */
export const SENDER = {
  tag: "Log receivers",
  access: { role: "member", scope: "logs:write" },
  credential: authorizationToken("basic", "apikey"),
  /** Clients add parameters that choose how much they are told. */
  query: Type.Object({}, { additionalProperties: true }),
} as const;
