import { TEST_ORIGIN } from "../../harness/http-app.ts";
import type { IdentityServer } from "../identity-server.ts";

/** Where a browser has come to rest, or been stopped. */
interface Visit {
  /** The last address asked for, or the one that was not asked for any more. */
  readonly url: URL;
  readonly response: Response;
  /** Every address on the way, the last included. */
  readonly trail: readonly string[];
}

/** Keeps cookies and follows redirects, between the server under test and real peers. */
export class Browser {
  readonly #server: Pick<IdentityServer, "send">;
  readonly #origin: string;
  readonly #cookies = new Map<string, Map<string, string>>();

  constructor(server: Pick<IdentityServer, "send">, origin: string = TEST_ORIGIN) {
    this.#server = server;
    this.#origin = origin;
  }

  /** Goes where an address leads; stops at the server's own pages, and before an address that `until` accepts. */
  async visit(
    start: string,
    options: { until?: (url: URL) => boolean; headers?: Record<string, string> } = {},
  ): Promise<Visit> {
    let url = new URL(start, this.#origin);
    const trail = [url.href];
    for (let hop = 0; hop < 20; hop += 1) {
      const response = await this.#get(url, options.headers ?? {});
      const location = response.headers.get("location");
      if (location === null) return { url, response, trail };
      url = new URL(location, url);
      trail.push(url.href);
      const isOwnPage = url.origin === this.#origin && !url.pathname.startsWith("/api/");
      if (isOwnPage || options.until?.(url) === true) return { url, response, trail };
    }
    throw new Error(`redirected too often: ${trail.join(" ")}`);
  }

  /** Goes until the provider sends the browser back, and answers the address it was told to go to. */
  async visitUntilCallback(start: string): Promise<URL> {
    const isCallback = (url: URL): boolean =>
      url.origin === this.#origin && url.pathname.endsWith("/callback");
    const { url } = await this.visit(start, { until: isCallback });
    if (!isCallback(url)) throw new Error(`ended at ${url.href}`);
    return url;
  }

  /** The cookies the server under test would get. */
  get cookie(): string {
    return this.#header(new URL(this.#origin));
  }

  /** The `session=...` of the server under test; undefined when signed out. */
  get session(): string | undefined {
    const value = this.#jar(new URL(this.#origin)).get("session");
    return value === undefined ? undefined : `session=${value}`;
  }

  /** Puts a cookie such as `session=...` in. */
  accept(cookie: string): void {
    this.#keep(new URL(this.#origin), cookie);
  }

  async #get(url: URL, headers: Record<string, string>): Promise<Response> {
    const sent = { ...headers, cookie: this.#header(url) };
    const response =
      url.origin === this.#origin
        ? await this.#server.send("GET", `${url.pathname}${url.search}`, { headers: sent })
        : await fetch(url, { headers: sent, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) this.#keep(url, line);
    return response;
  }

  #keep(url: URL, line: string): void {
    const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf("="));
    const value = pair.slice(name.length + 1);
    const isOver =
      value === "" || attributes.some((attribute) => /^(?:max-age=0|expires=.*1970.*)$/i.test(attribute));
    if (isOver) this.#jar(url).delete(name);
    else this.#jar(url).set(name, value);
  }

  #header(url: URL): string {
    return [...this.#jar(url)].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  #jar(url: URL): Map<string, string> {
    const jar = this.#cookies.get(url.origin) ?? new Map<string, string>();
    this.#cookies.set(url.origin, jar);
    return jar;
  }
}
