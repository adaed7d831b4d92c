/**
 * Creates a generator of reproducible numbers from 0 to 1: https://en.wikipedia.org/wiki/Linear_congruential_generator
 */
export function createRandom (seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
