/**
 * From 0 to 1, the same row of numbers for the same seed: a linear congruential generator (Numerical Recipes'
 * constants), good enough to vary a moment.
 */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
