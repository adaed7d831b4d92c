/** A bounded queue of the newest lines. It counts the older lines that it drops. */
export class LineBuffer {
  readonly #linesMax: number
  readonly #bytesMax: number
  #lines: string[] = []
  #first = 0
  #bytes = 0
  #left = 0

  constructor (linesMax: number, bytesMax: number) {
    this.#linesMax = linesMax
    this.#bytesMax = bytesMax
  }

  get isEmpty (): boolean {
    return this.#lines.length === this.#first && this.#left === 0
  }

  add (line: string): void {
    this.#lines.push(line)
    this.#bytes += line.length
    while (this.#lines.length - this.#first > this.#linesMax || this.#bytes > this.#bytesMax) this.#drop()
    // Removing single lines from the front would move all others each time.
    if (this.#first > this.#linesMax) this.#compact()
  }

  /** Counts lines that could not be forwarded. */
  leaveOut (count: number): void {
    this.#left += count
  }

  /** Takes the newest lines, at most `max`, and the number of lines dropped since the last call. */
  takeNewest (max: number): { lines: string[], dropped: number } {
    while (this.#lines.length - this.#first > max) this.#drop()
    this.#compact()
    const batch = { lines: this.#lines, dropped: this.#left }
    this.#lines = []
    this.#bytes = 0
    this.#left = 0
    return batch
  }

  #drop (): void {
    this.#bytes -= this.#lines[this.#first]?.length ?? 0
    this.#lines[this.#first++] = ''
    this.#left++
  }

  #compact (): void {
    this.#lines.splice(0, this.#first)
    this.#first = 0
  }
}
