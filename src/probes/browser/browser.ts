import type { Browser as Chromium, Page } from "playwright-core";
import { fulfilledWithin } from "../../concurrency/deadline.ts";
import type { Connector } from "../../outbound/connector.ts";
import { OutboundError } from "../../outbound/outbound-error.ts";
import type { OutboundScope } from "../../outbound/outbound-scope.ts";
import { CheckFailure } from "../check-failure.ts";
import { BROWSER_CHECKS_MAX, BROWSER_CLOSE_MAX_MS, BROWSER_IDLE_MS, BROWSER_PAGES_MAX } from "../limits.ts";
import { JudgingProxy } from "./judging-proxy.ts";

/** A Chromium with the proxy behind which it stands. */
interface Session {
  readonly chromium: Chromium;
  readonly proxy: JudgingProxy;
  checks: number;
  pages: number;
  isRetired: boolean;
  isEnding: boolean;
}

/** A page of its own, with no trace of any other. */
interface OpenPage {
  readonly page: Page;
  readonly proxy: JudgingProxy;
  /** Whether the browser is there; what fails without it says nothing of a page. */
  readonly isAlive: () => boolean;
}

interface BrowserOptions {
  readonly connector: Connector;
  /** The program; null where there is none. */
  readonly path: string | null;
  /** Checks of one Chromium; for tests. */
  readonly checksMax?: number;
}

interface PageOptions {
  readonly tlsSkipVerify: boolean;
  readonly scope: OutboundScope;
}

/** Programs that are a Chromium, by their names on the path. */
const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

export function findBrowser(configured: string | null): string | null {
  if (configured !== null) return configured;
  return PROGRAMS.map((name) => Bun.which(name)).find((path) => path !== null) ?? null;
}

/** UDP would go past the proxy, and names are the proxy's to resolve. */
const ARGUMENTS = [
  "--disable-quic",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  "--renderer-process-limit=4",
  "--disable-crash-reporter",
];

/**
 * One Chromium for all checks: started by the first, replaced after a number of them, ended when it is not needed. It ends with this
 * process, however that ends, for it is spoken to through a pipe.
 */
export class Browser {
  readonly #connector: Connector;
  readonly #path: string | null;
  readonly #checksMax: number;
  readonly #waiting: (() => void)[] = [];
  readonly #ending = new Set<Promise<void>>();
  #turns = BROWSER_PAGES_MAX;
  #session: Promise<Session> | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor({ connector, path, checksMax = BROWSER_CHECKS_MAX }: BrowserOptions) {
    this.#connector = connector;
    this.#path = path;
    this.#checksMax = checksMax;
  }

  /**
   * Gives a page to `work` and closes it afterwards, or when the scope ends. Throws what `work` throws, and CheckFailure of status unknown
   * where there is no browser.
   */
  async withPage<T>({ tlsSkipVerify, scope }: PageOptions, work: (open: OpenPage) => Promise<T>): Promise<T> {
    if (this.#path === null) throw new CheckFailure("browser_missing", { status: "unknown" });
    await this.#turn();
    try {
      if (scope.remainingMs === 0) throw new OutboundError("timeout");
      const session = await unavailableUnless(this.#started(this.#path));
      session.pages += 1;
      session.checks += 1;
      if (session.checks >= this.#checksMax) this.#retire(session);
      try {
        return await this.#open(session, tlsSkipVerify, scope, work);
      } finally {
        session.pages -= 1;
        if (session.isRetired && session.pages === 0) this.#end(session);
      }
    } finally {
      this.#pass();
    }
  }

  /** Ends the browser, whatever it does. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    const session = await this.#session?.catch(() => null);
    if (session !== null && session !== undefined) {
      this.#retire(session);
      this.#end(session);
    }
    await Promise.all(this.#ending);
  }

  async #open<T>(
    session: Session,
    ignoreHTTPSErrors: boolean,
    scope: OutboundScope,
    work: (open: OpenPage) => Promise<T>,
  ): Promise<T> {
    const { chromium, proxy } = session;
    const context = await unavailableUnless(
      chromium.newContext({ ignoreHTTPSErrors, acceptDownloads: false, serviceWorkers: "block" }),
    );
    const close = async (): Promise<void> => {
      // One that does not close goes with its browser.
      const isClosed = await fulfilledWithin(context.close(), BROWSER_CLOSE_MAX_MS).catch(() => false);
      if (!isClosed) this.#retire(session);
    };
    try {
      scope.hold({ destroy: () => void close() });
      const page = await unavailableUnless(context.newPage());
      // A page opens no others, and waits for nobody; either may be gone by the time it is told so.
      context.on("page", (other) => void other.close().catch(() => undefined));
      page.on("dialog", (dialog) => void dialog.dismiss().catch(() => undefined));
      return await work({ page, proxy, isAlive: () => chromium.isConnected() });
    } finally {
      await close();
    }
  }

  #turn(): Promise<void> {
    clearTimeout(this.#idle);
    if (this.#turns > 0) {
      this.#turns -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #pass(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#turns += 1;
    if (this.#turns < BROWSER_PAGES_MAX || this.#isClosed) return;
    this.#idle = setTimeout(() => void this.#endIdle(), BROWSER_IDLE_MS);
    this.#idle.unref();
  }

  async #endIdle(): Promise<void> {
    const session = await this.#session?.catch(() => null);
    if (session === null || session === undefined) return;
    this.#retire(session);
    if (session.pages === 0) this.#end(session);
  }

  #started(path: string): Promise<Session> {
    if (this.#isClosed) return Promise.reject(new Error("the browser was closed"));
    if (this.#session !== null) return this.#session;
    const starting = this.#start(path);
    this.#session = starting;
    starting.catch(() => {
      this.#session = null;
    });
    return starting;
  }

  async #start(path: string): Promise<Session> {
    const { chromium } = await import("playwright-core");
    const proxy = await JudgingProxy.start(this.#connector);
    try {
      const launched = await chromium.launch({
        executablePath: path,
        args: ARGUMENTS,
        // Loopback is asked for through the proxy like everything else.
        proxy: { server: proxy.address, bypass: "<-loopback>" },
        // Chromium's own sandbox is not to be had as root.
        chromiumSandbox: process.getuid?.() !== 0,
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      });
      const session = { chromium: launched, proxy, checks: 0, pages: 0, isRetired: false, isEnding: false };
      launched.on("disconnected", () => {
        this.#retire(session);
        this.#end(session);
      });
      return session;
    } catch (error) {
      await proxy.close();
      throw error;
    }
  }

  /** Gives it no more pages; it ends when it has none. */
  #retire(session: Session): void {
    if (session.isRetired) return;
    session.isRetired = true;
    this.#session = null;
  }

  #end(session: Session): void {
    if (session.isEnding) return;
    session.isEnding = true;
    const ended = (async () => {
      // It may have ended by itself.
      await session.chromium.close().catch(() => undefined);
      await session.proxy.close();
    })();
    this.#ending.add(ended);
    void ended.finally(() => this.#ending.delete(ended));
  }
}

async function unavailableUnless<T>(found: Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (cause) {
    throw new CheckFailure("not_available", { status: "unknown", cause });
  }
}
