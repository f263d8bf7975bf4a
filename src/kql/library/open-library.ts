import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Library } from "../../../query/index.ts";
import type { Places } from "./places.ts";
import { UserAgents } from "./user-agents.ts";
import { xmlAsBag } from "./xml.ts";

/** The functions that libraries compute; of places those of a database, without one none. Throws for a file that is none. */
export async function openLibrary(geoDatabase: string | null): Promise<Library> {
  const places = geoDatabase === null ? null : await openPlaces(geoDatabase);
  let agents: UserAgents | null = null;
  return {
    geo_info_from_ip_address: places?.describe ?? null,
    parse_user_agent: (text, option) => {
      // A thousand expressions, which most servers are never asked for.
      agents ??= new UserAgents(
        readFileSync(fileURLToPath(import.meta.resolve("uap-core/regexes.yaml")), "utf8"),
      );
      return agents.describe(text, option);
    },
    parse_xml: xmlAsBag,
  };
}

async function openPlaces(file: string): Promise<Places> {
  // Loaded where there is a database: most servers have none.
  const { Places } = await import("./places.ts");
  try {
    return new Places(readFileSync(file));
  } catch (error) {
    throw new Error(`GEO_DATABASE: ${file} cannot be read as a database of places`, { cause: error });
  }
}
