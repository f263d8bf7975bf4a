import { pageOfHost } from "../domains/status-pages/page-reading.ts";
import type { PublishedPages } from "../domains/status-pages/published-pages.ts";
import type { App } from "../http/app.ts";

/** An app that answers on the hosts of status pages with these pages and nothing else. */
export function withPageHosts(app: App, pages: PublishedPages): App {
  return {
    router: app.router,
    handle: (request, connection) => {
      const slug = pageOfHost(pages, request);
      return app.handle(slug === null ? request : onPage(request, slug), connection);
    },
  };
}

function onPage(request: Request, slug: string): Request {
  const url = new URL(request.url);
  url.pathname = url.pathname === "/" ? `/status/${slug}` : `/status/${slug}${url.pathname}`;
  return new Request(url.href, request);
}
