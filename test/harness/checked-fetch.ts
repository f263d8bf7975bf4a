import { DeclaredAnswers } from "./declared-answers.ts";

interface Checking {
  /** The fetch of the runtime. */
  readonly fetch: typeof fetch;
  /** Of the servers whose answers are judged. */
  readonly origins: Set<string>;
  /** By the document of the first of them that was asked; null until one has answered. */
  declared: DeclaredAnswers | null;
}

/** Bun runs every test file in one process; what the files share hangs on the process, under a name nobody else takes. */
const KEY: unique symbol = Symbol.for("obs.test.checked-fetch");
const registry: typeof globalThis & { [KEY]?: Checking } = globalThis;

/**
 * From now on the answers of a server to `fetch` are judged by the OpenAPI document: one that is not as declared rejects,
 * and so fails the test that caused it.
 */
export function checkAnswersOf(origin: string): void {
  registry[KEY] ??= install();
  registry[KEY].origins.add(origin);
}

function install(): Checking {
  const checking: Checking = { fetch: globalThis.fetch, origins: new Set(), declared: null };
  const checkedFetch = async (
    input: string | URL | Request,
    init?: BunFetchRequestInit,
  ): Promise<Response> => {
    const response = await checking.fetch(input, init);
    const { origin, pathname } = new URL(response.url === "" ? urlOf(input) : response.url);
    if (!checking.origins.has(origin)) return response;
    const method = response.redirected ? "GET" : methodOf(input, init);
    checking.declared ??= await readDocument(checking.fetch, origin);
    const problem = (await checking.declared?.problem(method, pathname, response)) ?? null;
    if (problem !== null) throw new Error(`an answer is not as the OpenAPI document says: ${problem}`);
    return response;
  };
  globalThis.fetch = Object.assign(checkedFetch, { preconnect: checking.fetch.preconnect });
  return checking;
}

/** Null while the server does not give its document, as one that is being stopped. */
async function readDocument(fetchIt: typeof fetch, origin: string): Promise<DeclaredAnswers | null> {
  const document: unknown = await fetchIt(`${origin}/openapi.json`).then(
    (answer) => (answer.ok ? answer.json() : null),
    () => null,
  );
  return document === null ? null : new DeclaredAnswers(document);
}

function urlOf(input: string | URL | Request): string | URL {
  return input instanceof Request ? input.url : input;
}

function methodOf(input: string | URL | Request, init: BunFetchRequestInit | undefined): string {
  return (init?.method ?? (input instanceof Request ? input.method : "GET")).toUpperCase();
}
