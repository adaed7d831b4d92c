import { SourceError } from '../../contract.ts'
import { type Dialect, readToken, type Token } from './tokens.ts'

/** The most characters of one row or statement head. The longest rows of RomM hold a megabyte of metadata. */
const MAX_PENDING = 64 * 1024 * 1024

/** A reader that yields each time it needs more text, and returns its result. */
export type Reading<T = void> = Generator<undefined, T>

export function isSign (token: Token | null, sign: string): boolean {
  return token?.type === 'sign' && token.text() === sign
}

/** Returns an unquoted word in upper case; empty for any other token. */
export function wordOf (token: Token | null): string {
  return token?.type === 'word' ? token.text().toUpperCase() : ''
}

/**
 * The text of a dump as tokens and lines, while it arrives. Memory holds the text of one row, and as much again. A row
 * that is not complete is read again only when twice the text is there, because reading it at each chunk would take
 * quadratic time.
 */
export class TokenStream {
  readonly #dialect: Dialect
  /** The text that is read; `#at` is the position of the next token. */
  #text = ''
  #at = 0
  /** Chunks that follow the text. */
  #chunks: string[] = []
  #arrived = 0
  #isLast = false

  constructor (dialect: Dialect) {
    this.#dialect = dialect
  }

  add (chunk: string): void {
    this.#chunks.push(chunk)
    this.#arrived += chunk.length
  }

  end (): void {
    this.#isLast = true
  }

  get #isEmpty (): boolean {
    return this.#at === this.#text.length
  }

  /** Waits for enough more text. @throws SourceError at the end of the dump, and for a row without end */
  * wait (): Reading {
    if (this.#isLast) {
      throw new SourceError('The dump ends in the middle of a statement. Make it again, or copy it again completely')
    }
    const pending = this.#text.length - this.#at
    if (pending > MAX_PENDING) {
      throw new SourceError(`A row or statement of the dump has more than ${MAX_PENDING} characters. Make the dump again with ` +
        'mysqldump, mariadb-dump or pg_dump')
    }
    const wanted = Math.min(pending, MAX_PENDING + 1 - pending)
    do yield
    while (this.#arrived < wanted && !this.#isLast)
    this.#text = this.#text.slice(this.#at) + this.#chunks.join('')
    this.#at = 0
    this.#chunks = []
    this.#arrived = 0
  }

  /** Reads the next token that is no space; null at the end of the dump. */
  * next (): Reading<Token | null> {
    while (true) {
      const token = this.#isEmpty ? null : readToken(this.#text, this.#at, this.#dialect, this.#isLast)
      if (token === null) {
        if (this.#isLast && this.#isEmpty) return null
        yield * this.wait()
      } else {
        this.#at = token.end
        if (token.type !== 'space') return token
      }
    }
  }

  /** Skips to the end of a statement. */
  * skipStatement (): Reading {
    for (let token = yield * this.next(); token !== null; token = yield * this.next()) if (isSign(token, ';')) return
  }

  /** Skips the rest of a statement, unless the token was its end. */
  * skipAfter (token: Token | null): Reading {
    if (!isSign(token, ';')) yield * this.skipStatement()
  }

  /** Reads to the end of the line; null at the end of the dump. */
  * readLine (): Reading<string | null> {
    let end = this.#text.indexOf('\n', this.#at)
    while (end === -1 && !this.#isLast) {
      yield * this.wait()
      end = this.#text.indexOf('\n', this.#at)
    }
    if (end === -1 && this.#isEmpty) return null
    const line = this.#text.slice(this.#at, end === -1 ? undefined : end)
    this.#at = end === -1 ? this.#text.length : end + 1
    return line
  }

  /** Reads the values of a row after its opening parenthesis. */
  * readTuple (): Reading<(string | null)[]> {
    let tuple = this.#scanTuple()
    while (tuple === null) {
      yield * this.wait()
      tuple = this.#scanTuple()
    }
    return tuple
  }

  /** Returns null, at the same position, if the text ends before the row does. */
  #scanTuple (): (string | null)[] | null {
    const values: (string | null)[] = []
    let value: string | null | undefined
    let depth = 1
    let position = this.#at
    while (position < this.#text.length) {
      const token = readToken(this.#text, position, this.#dialect, this.#isLast)
      if (token === null) return null
      position = token.end
      if (token.type === 'sign') {
        const sign = token.text()
        if (sign === '(') depth += 1
        if (sign === ')') depth -= 1
        if (depth === 0 || (depth === 1 && sign === ',')) {
          values.push(value ?? null)
          value = undefined
        }
        if (depth === 0) {
          this.#at = position
          return values
        }
      } else if (value === undefined && token.type !== 'space') value = readValue(token)
    }
    return null
  }
}

/** Returns a value of INSERT as text; undefined for a word before the value, such as `_binary`. */
function readValue (token: Token): string | null | undefined {
  const text = token.text()
  if (token.type !== 'word') return text
  if (text.startsWith('_')) return undefined
  if (/^(?:null|default)$/i.test(text)) return null
  return /^0x[0-9a-f]+$/i.test(text) ? Buffer.from(text.slice(2), 'hex').toString() : text
}
