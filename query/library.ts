/** Functions that no store computes, and a library does: the compiler is given what it makes of the texts that there are. */

/**
 * What a function makes of a text: the JSON text of a dynamic value, empty for null. `option` is the constant second
 * argument of a call, null without one. Never throws, whatever the text.
 */
export type LibraryFunction = (text: string, option: string | null) => string;

/** The functions of a server by name; null for one that it knows but cannot compute as it is configured. */
export type Library = Readonly<Record<LibraryFunctionName, LibraryFunction | null>>;

export type LibraryFunctionName = keyof typeof LIBRARY_FUNCTIONS;

/** A call of a function, but for its text. */
export interface LibraryUse {
  readonly name: LibraryFunctionName;
  readonly option: string | null;
}

export const LIBRARY_FUNCTIONS = {
  geo_info_from_ip_address: {
    signature: "geo_info_from_ip_address(address: string): dynamic",
    summary: "Where an address is: country, state, city, latitude and longitude.",
    absent:
      "geo_info_from_ip_address() needs a database of places, which whoever runs the server sets as GEO_DATABASE",
    takesOption: false,
  },
  parse_user_agent: {
    signature: "parse_user_agent(text: string, look_for: string or dynamic): dynamic",
    summary: "The browser, operating system and device that a user agent names.",
    absent: "parse_user_agent() is not computed here",
    takesOption: true,
  },
  parse_xml: {
    signature: "parse_xml(text: string): dynamic",
    summary: "The elements of a text of XML as a bag.",
    absent: "parse_xml() is not computed here",
    takesOption: false,
  },
} as const;

export const NO_LIBRARY: Library = {
  geo_info_from_ip_address: null,
  parse_user_agent: null,
  parse_xml: null,
};

/** For whoever asks whether a text is a query and not what it answers: every function is there, and makes nothing. */
export const UNCOMPUTED_LIBRARY: Library = {
  geo_info_from_ip_address: () => "",
  parse_user_agent: () => "",
  parse_xml: () => "",
};

export function isLibraryFunction(name: string): name is LibraryFunctionName {
  return Object.hasOwn(LIBRARY_FUNCTIONS, name);
}
