const LONG_MIN = -(2n ** 63n);
const LONG_MAX = 2n ** 63n - 1n;

/** The nearest number of 64 bits with a sign. */
export function clampLong(value: bigint): bigint {
  if (value < LONG_MIN) return LONG_MIN;
  return value > LONG_MAX ? LONG_MAX : value;
}
