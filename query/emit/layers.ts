/** Something computed in a SELECT, and the name by which the rest mentions it. */
export interface NamedSql {
  readonly alias: string;
  readonly sql: string;
  /** False for aggregates and window functions, which are computed after the rows are filtered. */
  readonly isOfRows: boolean;
}

/**
 * ClickHouse puts what a name stands for in place of the name, so that a chain of things that each mention the one
 * before twice doubles with each of them, up to its limit on the size of a query. Beyond this many mentions the chain
 * is cut: what comes before becomes a SELECT of its own, whose columns are computed once.
 */
const MENTIONS_MAX_COUNT = 500;

const NAMES = /\b[ce]\d+\b/g;

/** The definitions in layers, each of which mentions only those below and itself; the last one belongs to the SELECT. */
export function layered(definitions: readonly NamedSql[]): NamedSql[][] {
  const byAlias = new Map(definitions.map((definition) => [definition.alias, definition]));
  const places = new Map<string, Place>();
  const placeOf = (alias: string): Place => {
    const known = places.get(alias);
    if (known !== undefined) return known;
    const definition = byAlias.get(alias);
    if (definition === undefined) return OUTSIDE;
    places.set(alias, OUTSIDE);
    const mentioned = (definition.sql.match(NAMES) ?? []).map(placeOf);
    const layer = Math.max(0, ...mentioned.map((place) => place.layer));
    const mentions = mentioned
      .filter((place) => place.layer === layer)
      .reduce((sum, place) => sum + place.mentions, 1);
    const isOfRows = definition.isOfRows && mentioned.every((place) => place.isOfRows);
    const isCut = mentions > MENTIONS_MAX_COUNT && mentioned.every((place) => place.isOfRows);
    const place = isCut
      ? { layer: layer + 1, mentions: 1 + mentioned.length, isOfRows }
      : { layer, mentions, isOfRows };
    places.set(alias, place);
    return place;
  };
  const last = Math.max(0, ...definitions.map(({ alias }) => placeOf(alias).layer));
  const layers: NamedSql[][] = Array.from({ length: last + 1 }, () => []);
  for (const definition of definitions) {
    const { layer, isOfRows } = placeOf(definition.alias);
    layers[isOfRows ? layer : last]?.push(definition);
  }
  return layers;
}

interface Place {
  readonly layer: number;
  /** Parts of the query once every name is replaced, down to the layer below. */
  readonly mentions: number;
  readonly isOfRows: boolean;
}

/** A column of the source. */
const OUTSIDE: Place = { layer: 0, mentions: 1, isOfRows: true };
