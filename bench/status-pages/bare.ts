/**
 * A listener that answers every request with the same bytes and headers, which it asks a page for at its start.
 * Usage: bun bench/status-pages/bare.ts URL PORT
 */
const [target = "", port = "0"] = process.argv.slice(2);
const page = await fetch(target, { headers: { "accept-encoding": "gzip" }, decompress: false });
const bytes = new Uint8Array(await page.arrayBuffer());
const headers = Object.fromEntries(
  [...page.headers].filter(([name]) => !["connection", "content-length", "date"].includes(name)),
);
Bun.serve({
  port: Number(port),
  hostname: "127.0.0.1",
  development: false,
  fetch: () => new Response(bytes, { headers }),
});

export {};
