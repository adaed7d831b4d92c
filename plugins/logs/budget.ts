/** A rate limit for lines: a burst at once, and then a number of lines per second. */
export class Budget {
  readonly #burst: number
  readonly #perSecond: number
  #left: number
  #countedAt = performance.now()

  constructor (burst: number, perSecond: number) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#left = burst
  }

  get remaining (): number {
    const now = performance.now()
    this.#left = Math.min(this.#burst, this.#left + (now - this.#countedAt) / 1_000 * this.#perSecond)
    this.#countedAt = now
    return Math.floor(this.#left)
  }

  spend (count: number): void {
    this.#left -= count
  }
}
