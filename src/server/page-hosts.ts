import { hostOf } from "../domains/status-pages/page-reading.ts";
import type { App } from "../http/app.ts";

interface PageHosts {
  /** The status page that answers on a host; null for every other host. */
  slugOfHost(host: string): string | null;
}

/** An app that answers on the hosts of status pages with these pages and nothing else. */
export function withPageHosts(app: App, pages: PageHosts): App {
  return {
    router: app.router,
    handle: (request, connection) => {
      const slug = pages.slugOfHost(hostOf(request));
      return app.handle(slug === null ? request : onPage(request, slug), connection);
    },
  };
}

function onPage(request: Request, slug: string): Request {
  const url = new URL(request.url);
  url.pathname = url.pathname === "/" ? `/status/${slug}` : `/status/${slug}${url.pathname}`;
  return new Request(url.href, request);
}
