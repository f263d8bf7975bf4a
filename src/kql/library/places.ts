import { isIP } from "node:net";
import { type CityResponse, Reader } from "maxmind";

/** Where addresses are, by a database in the format of MaxMind. */
export class Places {
  readonly #reader: Reader<CityResponse>;

  /** Of the bytes of a database. Throws for what is none. */
  constructor(database: Buffer) {
    this.#reader = new Reader<CityResponse>(database);
  }

  /** The JSON text of a bag; empty for what is no address, and for one that is nowhere. */
  readonly describe = (address: string): string => {
    if (isIP(address) === 0) return "";
    const found = this.#reader.get(address);
    if (found === null) return "";
    const { country, subdivisions, city, location } = found;
    return JSON.stringify({
      country: country?.names.en ?? "",
      state: subdivisions?.[0]?.names.en ?? "",
      city: city?.names.en ?? "",
      latitude: location?.latitude ?? null,
      longitude: location?.longitude ?? null,
    });
  };
}
