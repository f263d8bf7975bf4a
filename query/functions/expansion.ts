/**
 * The SQL of the elements of a dynamic value as an Array(String) of JSON texts, an empty one for null: those of an
 * array, the members of a bag as bags of one, anything else as it is, and one null for nothing. `json` must be shared.
 */
export function expandedElements(json: string): string {
  const elements = `arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(${json}))`;
  const members = `arrayMap(x -> concat('{', toJSONString(x.1), ':', x.2, '}'), JSONExtractKeysAndValuesRaw(${json}))`;
  return `multiIf(startsWith(${json}, '['), ${elements}, startsWith(${json}, '{'), ${members}, [${json}])`;
}
