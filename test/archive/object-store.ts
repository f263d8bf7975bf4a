/** As much of an object store that speaks S3 as ClickHouse and we ask for; it believes every signature. */
export interface TestObjectStore extends Disposable {
  /** `http://127.0.0.1:PORT/BUCKET/PREFIX/` */
  readonly url: string;
  readonly objects: ReadonlyMap<string, Uint8Array>;
  /** The headers `Authorization` of all requests. */
  readonly authorizations: readonly string[];
}

export function startObjectStore(): TestObjectStore {
  const objects = new Map<string, Uint8Array>();
  const uploads = new Map<string, Map<number, Uint8Array>>();
  const authorizations: string[] = [];
  let uploadCount = 0;

  const put = async (key: string, query: URLSearchParams, request: Request): Promise<Response> => {
    const body = new Uint8Array(await request.arrayBuffer());
    const upload = uploads.get(query.get("uploadId") ?? "");
    if (upload === undefined) objects.set(key, body);
    else upload.set(Number(query.get("partNumber")), body);
    return new Response(null, { headers: { etag: `"${Bun.hash(body).toString(16)}"` } });
  };
  const post = (key: string, query: URLSearchParams): Response => {
    if (query.has("uploads")) {
      uploadCount += 1;
      const id = `upload-${uploadCount}`;
      uploads.set(id, new Map());
      return xml(
        `<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    const id = query.get("uploadId") ?? "";
    const parts = [...(uploads.get(id) ?? [])].sort(([left], [right]) => left - right);
    objects.set(key, Buffer.concat(parts.map(([, part]) => part)));
    uploads.delete(id);
    return xml(
      `<CompleteMultipartUploadResult><Key>${key}</Key><ETag>"e"</ETag></CompleteMultipartUploadResult>`,
    );
  };
  const get = (key: string, request: Request): Response => {
    const object = objects.get(key);
    if (object === undefined)
      return xml("<Error><Code>NoSuchKey</Code><Message>There is no such key.</Message></Error>", 404);
    const headers = { "last-modified": new Date(0).toUTCString(), etag: '"e"', "accept-ranges": "bytes" };
    if (request.method === "HEAD")
      return new Response(null, { headers: { ...headers, "content-length": String(object.length) } });
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get("range") ?? "") ?? [];
    if (first === undefined) return new Response(Buffer.from(object), { headers });
    const end =
      last === undefined || last === "" ? object.length - 1 : Math.min(Number(last), object.length - 1);
    return new Response(Buffer.from(object.subarray(Number(first), end + 1)), {
      status: 206,
      headers: { ...headers, "content-range": `bytes ${first}-${end}/${object.length}` },
    });
  };

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      authorizations.push(request.headers.get("authorization") ?? "");
      const { pathname, searchParams } = new URL(request.url);
      const key = decodeURIComponent(pathname.slice(1));
      switch (request.method) {
        case "PUT":
          return put(key, searchParams, request);
        case "POST":
          return post(key, searchParams);
        case "DELETE":
          objects.delete(key);
          return new Response(null, { status: 204 });
        default:
          return get(key, request);
      }
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/log-archive/obs/`,
    objects,
    authorizations,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

function xml(text: string, status = 200): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>${text}`, {
    status,
    headers: { "content-type": "application/xml" },
  });
}
