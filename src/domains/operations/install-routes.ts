import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { PackedText } from "../../http/packed-text.ts";
import { clientBundle } from "./client-bundle.ts";
import { installScript } from "./install-script.ts";

const TAG = "Operations";

/** How people get the command line from the server itself. */
export function installRoutes({ publicUrl }: { readonly publicUrl: string }) {
  const bundle = new PackedText(async () => (await clientBundle()).bytes, {
    "content-type": "text/javascript; charset=utf-8",
    // It changes with the server, and then at once.
    "cache-control": "no-cache",
  });
  return [
    route({
      method: "GET",
      path: "/install.sh",
      tag: TAG,
      summary: "A script that installs the command line for one user",
      access: "authenticated",
      responses: {
        200: {
          description: "A POSIX shell script, without any token.",
          schema: Type.String(),
          contentType: "text/x-shellscript; charset=utf-8",
        },
      },
      handler: async () => {
        const { sha256 } = await clientBundle();
        return new Response(installScript({ url: publicUrl, sha256, bun: Bun.version }), {
          headers: { "content-type": "text/x-shellscript; charset=utf-8", "cache-control": "no-store" },
        });
      },
    }),
    route({
      method: "GET",
      path: "/install/obs.js",
      tag: TAG,
      summary: "The command line as one file, which Bun runs",
      access: "public",
      responses: {
        200: {
          description: "JavaScript.",
          schema: Type.String(),
          contentType: "text/javascript; charset=utf-8",
        },
        304: { description: "The file that `If-None-Match` names." },
      },
      handler: ({ request }) => bundle.answer(request),
    }),
  ];
}
