/** Something computed in a SELECT, and the name by which the rest mentions it. */
export interface NamedSql {
  readonly alias: string;
  readonly sql: string;
  /** False for aggregates and window functions, which are computed after the rows are filtered. */
  readonly isOfRows: boolean;
}

/** What one SELECT computes of the rows of that below it, and which of them it keeps. */
export interface Layer {
  readonly definitions: readonly NamedSql[];
  readonly conditions: readonly string[];
}

/**
 * ClickHouse puts what a name stands for in place of the name, and looks at each of these places for itself, so that a
 * chain of things that each mention the one before twice doubles with each of them. Beyond this many characters that
 * names stand for the chain is cut: what comes before becomes a SELECT of its own, whose columns are computed once. A
 * conversion of an attribute stays below it: it is no chain, and a SELECT around the table costs time.
 */
const REPLACED_MAX_CHARS = 8_000;

const NAMES = /\b[cegs]\d+\b/g;

/** Something of a group of rows. */
export const OF_GROUP = /^g\d+$/;

/** What mentions a step stands above it. */
const STEP = /^s\d+$/;

/**
 * The definitions and conditions of a SELECT in layers, each of which mentions only those below and itself; the last
 * one is the SELECT itself. A condition is in the lowest layer that has what it mentions.
 */
export function layered(definitions: readonly NamedSql[], conditions: readonly string[]): Layer[] {
  const byAlias = new Map(definitions.map((definition) => [definition.alias, definition]));
  const places = new Map<string, Place>();
  const placeOf = (alias: string): Place => {
    const known = places.get(alias);
    if (known !== undefined) return known;
    const definition = byAlias.get(alias);
    if (definition === undefined) return OUTSIDE;
    places.set(alias, OUTSIDE);
    const over = placeOver(definition, placeOf);
    const place = STEP.test(alias) && over.isOfRows ? { ...over, chars: Number.POSITIVE_INFINITY } : over;
    places.set(alias, place);
    return place;
  };
  const conditionLayers = conditions.map((sql) => placeOver({ sql, isOfRows: true }, placeOf).layer);
  const last = Math.max(0, ...definitions.map(({ alias }) => placeOf(alias).layer), ...conditionLayers);
  const layerOf = ({ alias }: NamedSql): number => {
    const { layer, isOfRows } = placeOf(alias);
    return isOfRows ? layer : last;
  };
  return Array.from({ length: last + 1 }, (_, layer) => ({
    definitions: definitions.filter((definition) => layerOf(definition) === layer),
    conditions: conditions.filter((_, i) => conditionLayers[i] === layer),
  }));
}

/** The place of something, by those of what it mentions: in their highest layer, or above it. */
function placeOver(
  { sql, isOfRows: isSoItself }: Pick<NamedSql, "sql" | "isOfRows">,
  placeOf: (alias: string) => Place,
): Place {
  const mentioned = (sql.match(NAMES) ?? []).map(placeOf);
  const layer = Math.max(0, ...mentioned.map((place) => place.layer));
  const replaced = mentioned
    .filter((place) => place.layer === layer)
    .reduce((sum, place) => sum + place.chars, 0);
  const areOfRows = mentioned.every((place) => place.isOfRows);
  const isOfRows = isSoItself && areOfRows;
  return replaced > REPLACED_MAX_CHARS && areOfRows
    ? { layer: layer + 1, chars: sql.length, isOfRows }
    : { layer, chars: sql.length + replaced, isOfRows };
}

interface Place {
  readonly layer: number;
  /** Of the SQL once every name is replaced, down to the layer below. */
  readonly chars: number;
  readonly isOfRows: boolean;
}

/** A column of the source. */
const OUTSIDE: Place = { layer: 0, chars: 0, isOfRows: true };
