import { XMLParser, XMLValidator } from "fast-xml-parser";
import { XML_MAX_CHARS } from "./limits.ts";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  textNodeName: "#text",
  cdataPropName: "#cdata-section",
  parseTagValue: false,
  parseAttributeValue: false,
});

/**
 * The JSON text of a bag of the elements: attributes under `@name`, text under `#text` beside others, elements of one name as an
 * array. Empty for what is no XML, for one that is too long, and for a document type, which could make much of little.
 */
export function xmlAsBag(text: string): string {
  if (text.length > XML_MAX_CHARS || /<!DOCTYPE/i.test(text)) return "";
  if (XMLValidator.validate(text) !== true) return "";
  return JSON.stringify(parser.parse(text));
}
