import { Type } from "typebox";
import { validationFailed } from "../../../errors.ts";
import { route } from "../../../http/define-route.ts";
import { sseResponse } from "../../../http/sse.ts";
import { unstorableText } from "../../../http/unstorable-text.ts";
import type { TailService } from "./tail-service.ts";
import type { TailSessions } from "./tail-sessions.ts";
import { SessionAnswer, SessionBody, StreamParameters } from "./types.ts";

/** Routes of live tails. */
export function tailRoutes(sessions: TailSessions, tails: TailService) {
  return [
    route({
      method: "POST",
      path: "/api/v1/logs/tail/session",
      tag: "Logs",
      summary: "Make a live tail that its token opens",
      access: { role: "viewer", scope: "logs:read" },
      effect: "read",
      body: { kind: "json", schema: SessionBody, optional: true },
      responses: { 201: { description: "The session", schema: SessionAnswer } },
      errors: ["KQL_INVALID", "TAIL_LIMIT_REACHED"],
      handler: async ({ principal }, { body }) => {
        // A session is kept in Postgres, for every instance to open.
        const unstorable = unstorableText(body);
        if (unstorable !== null) throw validationFailed([unstorable]);
        return { status: 201, body: await sessions.create(principal, body) };
      },
    }),
    route({
      method: "GET",
      path: "/api/v1/logs/tail",
      tag: "Logs",
      summary: "Stream log entries as they become durable",
      // The token of a session says who calls; the handler judges it, or the caller's own credential.
      access: "public",
      rateLimit: "probe",
      query: StreamParameters,
      responses: {
        200: {
          description:
            "Server-sent events: `log` with an entry, `dropped` with the count of entries left out and the reason, `speed` " +
            "when they came too fast or `break` when a break was too long, " +
            "`error` with a code, `end` when the server stops. `Last-Event-ID` resumes without a gap.",
          contentType: "text/event-stream",
          schema: Type.String(),
        },
      },
      errors: ["UNAUTHENTICATED", "PAT_SCOPE_INSUFFICIENT"],
      idleTimeoutSec: 0,
      handler: async ({ request }, { query }) => sseResponse(await tails.open(request, query)),
    }),
  ];
}
