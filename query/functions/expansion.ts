/**
 * The SQL of the elements of a dynamic value as an Array(String) of JSON texts, an empty one for null: those of an
 * array, the members of a bag as bags of one or as arrays of key and value, anything else as it is, and one null for nothing. `json` must be shared.
 */
export function expandedElements(json: string, shape: "bags" | "arrays"): string {
  const elements = `arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(${json}))`;
  const [open, between, close] = shape === "bags" ? ["{", ":", "}"] : ["[", ",", "]"];
  const members = `arrayMap(x -> concat('${open}', toJSONString(x.1), '${between}', x.2, '${close}'), JSONExtractKeysAndValuesRaw(${json}))`;
  return `multiIf(startsWith(${json}, '['), ${elements}, startsWith(${json}, '{'), ${members}, [${json}])`;
}
