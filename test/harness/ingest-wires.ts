/** A way in which a client sends log entries. */
export interface IngestWire {
  readonly path: string;
  /** The status that acknowledges. */
  readonly acknowledges: number;
  /** The JSON body of a request with these messages. */
  body(messages: readonly string[]): unknown;
}

export const NATIVE_WIRE: IngestWire = {
  path: "/api/v1/logs/ingest",
  acknowledges: 202,
  body: (messages) => messages.map((message) => ({ message, attrs: { n: 1 } })),
};

export const OTLP_WIRE: IngestWire = {
  path: "/api/v1/otlp/v1/logs",
  acknowledges: 200,
  body: (messages) => ({
    resourceLogs: [
      { scopeLogs: [{ logRecords: messages.map((message) => ({ body: { stringValue: message } })) }] },
    ],
  }),
};

/** Through the source that `makeSource` makes. */
export function sourceWire(sourceKey: string): IngestWire {
  return {
    path: `/api/v1/ingest/${sourceKey}`,
    acknowledges: 202,
    body: (messages) => messages.map((message) => ({ text: message, n: 1 })),
  };
}

/** Makes a source whose records have their message in `text`. */
export async function makeSource(url: string, token: string, sourceKey: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/ingest/sources`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ sourceKey, name: sourceKey, mapping: { fields: { message: { from: "text" } } } }),
  });
  if (response.status !== 201) throw new Error(`no source: ${await response.text()}`);
}
