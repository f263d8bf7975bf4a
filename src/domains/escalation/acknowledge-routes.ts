import { Type } from "typebox";
import type { Change } from "../../changes/change.ts";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import type { RequestContext } from "../../http/route.ts";
import { memberAddresses } from "../../on-call/rotation-store.ts";
import type { AcknowledgeLinks } from "./acknowledge-link.ts";

export interface AcknowledgeDependencies {
  readonly links: AcknowledgeLinks;
  /** Says that a person takes care of an incident. Throws NOT_FOUND, and CONFLICT for one that is resolved. */
  readonly acknowledge: (change: Change, incidentId: number) => Promise<unknown>;
  /** Says that it is over. Throws NOT_FOUND. */
  readonly resolve: (change: Change, incidentId: number) => Promise<unknown>;
}

const PATH = "/acknowledge/:token";
const Params = Type.Object({ token: Type.String({ description: "Of the link that was sent" }) });
const shared = {
  path: PATH,
  tag: "Escalation",
  access: "public",
  params: Params,
  responses: {
    200: { description: "A page", contentType: "text/html", schema: Type.String() },
  },
  errors: ["LINK_INVALID", "CONFLICT", "NOT_FOUND"],
} as const;

/** Buttons, no script, nothing from elsewhere; the address, which opens it, is told to nobody. */
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};
const STYLE =
  "body{font:18px/1.5 sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem}" +
  "button{font:inherit;padding:.75rem 1.5rem;width:100%;margin:.5rem 0}";

/** What a link in a page leads to: opening it shows buttons, for scanners open every link; the buttons act. */
export function acknowledgeRoutes(deps: AcknowledgeDependencies) {
  return [
    route({
      ...shared,
      method: "GET",
      summary:
        "Show the buttons by which whoever was paged says that they take care of it, or that it is over",
      handler: (_context, { params }) => {
        const { incidentId } = requirePage(deps, params.token);
        return page(
          `Incident ${incidentId}`,
          `<form method="post"><button>I take care of incident ${incidentId}</button></form>` +
            `<form method="post" action="${Bun.escapeHTML(params.token)}/resolve"><button>It is over</button></form>`,
        );
      },
    }),
    route({
      ...shared,
      method: "POST",
      summary: "Say that whoever was paged takes care of it",
      audit: "ACKNOWLEDGE_INCIDENT",
      handler: async (context, { params }) => {
        const { incidentId } = await actBy(deps, context, params.token, deps.acknowledge);
        return page(
          `Incident ${incidentId}`,
          `<p>Incident ${incidentId} is yours. Nobody else is paged.</p>`,
        );
      },
    }),
    route({
      ...shared,
      path: `${PATH}/resolve`,
      method: "POST",
      summary: "Say that it is over, as whoever was paged",
      audit: "RESOLVE_INCIDENT",
      handler: async (context, { params }) => {
        const { incidentId } = await actBy(deps, context, params.token, deps.resolve);
        return page(
          `Incident ${incidentId}`,
          `<p>Incident ${incidentId} is resolved. Nobody else is paged.</p>`,
        );
      },
    }),
  ];
}

function actBy(
  deps: AcknowledgeDependencies,
  context: RequestContext,
  token: string,
  act: (change: Change, incidentId: number) => Promise<unknown>,
): Promise<{ incidentId: number }> {
  const { organizationId, incidentId, userId } = requirePage(deps, token);
  return context.changeAnonymously(async (change) => {
    const members = await memberAddresses(change.tx, organizationId);
    const email = members.get(userId);
    if (email === undefined) throw invalid();
    await act(change.by(organizationId, { kind: "person", userId, email }), incidentId);
    return { incidentId };
  });
}

function requirePage({ links }: AcknowledgeDependencies, token: string) {
  const found = links.read(token);
  if (found === null) throw invalid();
  return found;
}

function invalid(): ApiError {
  return new ApiError("LINK_INVALID", "The link is unknown or too old; sign in to acknowledge the incident.");
}

function page(title: string, content: string): Response {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">`;
  return new Response(
    `<!doctype html>\n<html lang="en"><head>${head}<title>${title}</title><style>${STYLE}</style></head>\n` +
      `<body><main><h1>${title}</h1>${content}</main></body></html>\n`,
    { headers: HEADERS },
  );
}
