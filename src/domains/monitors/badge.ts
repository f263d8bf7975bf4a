import type { Sql } from "postgres";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";

/** How long whoever shows a badge may go on showing it. */
const FRESH_SEC = 30;
const COLORS = {
  up: "brightgreen",
  degraded: "orange",
  down: "red",
  paused: "lightgrey",
  unknown: "lightgrey",
};

type Shown = keyof typeof COLORS;

/** The public badge of any monitor: what it is, and nothing that says which one. */
export function badgeRoutes({ sql }: { readonly sql: Sql }) {
  return [
    route({
      method: "GET",
      path: "/api/v1/badge/monitors/:id.svg",
      tag: "Monitors",
      summary: "The status of a monitor as a badge, for anybody",
      access: "public",
      rateLimit: "public",
      params: IdParams,
      responses: { 200: { description: "An image", contentType: "image/svg+xml" } },
      handler: async (_context, { params }) => {
        const shown = await findShown(sql, Number(params.id));
        if (shown === null) throw new ApiError("NOT_FOUND", "No such badge.");
        // Loaded with the first badge: 5 MiB, most of them widths of letters.
        const { makeBadge } = await import("badge-maker");
        const svg = makeBadge({ label: "status", message: shown, color: COLORS[shown] });
        return {
          status: 200,
          encoded: { contentType: "image/svg+xml", bytes: new TextEncoder().encode(svg) },
          headers: { "cache-control": `public, max-age=${FRESH_SEC}` },
        };
      },
    }),
  ];
}

/** Looks across organisations: whoever has the address of a badge may see it. Null for no such monitor. */
async function findShown(sql: Sql, id: number): Promise<Shown | null> {
  const [row] = await askPostgres(
    () => sql<{ paused: boolean; confirmed: "up" | "degraded" | "down" | null }[]>`
      SELECT m.paused, s.confirmed FROM monitors m JOIN monitor_state s ON s.monitor_id = m.id WHERE m.id = ${id}`,
  );
  if (row === undefined) return null;
  return row.paused ? "paused" : (row.confirmed ?? "unknown");
}
