import { type AnyElysia, Elysia } from "elysia";
import { API_SUMMARY } from "./api-description.ts";

const ICON =
  "data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E" +
  "%3Crect width=%2216%22 height=%2216%22 rx=%223%22 fill=%22%23111%22/%3E" +
  "%3Cpath d=%22M3 5h10M3 8h7M3 11h9%22 stroke=%22%23fff%22/%3E%3C/svg%3E";

/** What the reference is not to do: ask other servers for fonts, figures, answers or a proxy, or lead people to them. */
const NOTHING_ELSEWHERE = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
};

/**
 * The page of the reference at `path`, rendered by Elysia's plugin; its script comes from `scriptPath`. The plugin is loaded
 * only now: it takes 7 MiB, and most servers are never asked for the page.
 */
export async function openReference(path: string, scriptPath: string): Promise<AnyElysia> {
  const { swagger } = await import("@elysiajs/swagger");
  return new Elysia().use(
    swagger({
      path,
      provider: "scalar",
      scalarCDN: scriptPath,
      scalarConfig: {
        ...NOTHING_ELSEWHERE,
        spec: { url: "/openapi.json" },
        // Calls go to where the page came from, whatever name of the server that is: the policy lets no others pass.
        servers: [{ url: "/" }],
        favicon: ICON,
        customCss: "",
        theme: "default",
        defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
        authentication: { preferredSecurityScheme: "token" },
      },
      documentation: { info: { title: "obs API", description: API_SUMMARY, version: "" } },
    }),
  );
}
