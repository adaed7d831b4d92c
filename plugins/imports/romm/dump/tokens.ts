/** The family of databases whose quoting a dump follows. */
export type Dialect = 'mysql' | 'postgres'

/** One token of SQL. `text` is unquoted for names and strings, and empty for white space and comments. */
export interface Token {
  readonly type: 'space' | 'word' | 'name' | 'string' | 'sign'
  readonly end: number
  text (): string
}

const SPACE = /\s+/y
const LINE_COMMENT = /(?:--|#)/y
const PREFIXED_STRING = /([eEbBxXnN]?)'/y
const NUMBER = /[-+]?(?:\d|\.\d)[\w.]*(?:(?<=[eE])[-+]\d+)?/y
const WORD = /[\p{L}_@$][\p{L}\p{N}_@$]*/yu
const DOLLAR_TAG = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/yu
const SPECIAL_IN_STRING = /['\\]/g
const QUOTE = /'/g

/** Characters after a backslash in MySQL's strings; others stand for themselves. */
const MYSQL_ESCAPES = new Map([['0', '\0'], ['b', '\b'], ['n', '\n'], ['r', '\r'], ['t', '\t'], ['Z', '\x1a']])
const POSTGRES_ESCAPES = new Map([['b', '\b'], ['f', '\f'], ['n', '\n'], ['r', '\r'], ['t', '\t'], ['v', '\v']])

/**
 * Reads the token at a position; null if it may go on after the end of the text.
 *
 * Lexical rules: https://dev.mysql.com/doc/refman/8.4/en/string-literals.html and
 * https://www.postgresql.org/docs/current/sql-syntax-lexical.html
 *
 * @param isLast true if no more text follows
 */
export function readToken (text: string, start: number, dialect: Dialect, isLast: boolean): Token | null {
  const token = scan(text, start, dialect, isLast)
  return token === null || (token.end === text.length && !isLast && token.type !== 'sign') ? null : token
}

function scan (text: string, start: number, dialect: Dialect, isLast: boolean): Token | null {
  const char = text[start]
  if (char === "'") return readQuoted(text, start, '', dialect)
  if (char === '`' || char === '"') return readName(text, start, char)
  const space = matchAt(SPACE, text, start)
  if (space !== null) return blank(start + space.length)
  const comment = readComment(text, start, dialect)
  if (comment !== undefined) return comment
  if (!isLast && (char === '-' || char === '/' || char === '$') && start + 1 === text.length) return null
  const prefix = PREFIX_LETTERS.has(char ?? '') ? matchAt(PREFIXED_STRING, text, start) : null
  if (prefix !== null) return readQuoted(text, start + 1, prefix.slice(0, 1).toLowerCase(), dialect)
  if (dialect === 'postgres' && char === '$') {
    const tag = matchAt(DOLLAR_TAG, text, start)
    if (tag !== null) return readDollarQuoted(text, start, tag)
  }
  const word = matchAt(NUMBER, text, start) ?? matchAt(WORD, text, start)
  if (word !== null) return { type: 'word', end: start + word.length, text: () => word }
  return { type: 'sign', end: start + 1, text: () => char ?? '' }
}

const PREFIX_LETTERS = new Set('eEbBxXnN')

function matchAt (pattern: RegExp, text: string, start: number): string | null {
  pattern.lastIndex = start
  return pattern.exec(text)?.[0] ?? null
}

const blank = (end: number): Token => ({ type: 'space', end, text: () => '' })

/** Reads a comment; undefined if there is none. Also skips what MySQL executes by version, which is never a row. */
function readComment (text: string, start: number, dialect: Dialect): Token | null | undefined {
  if (text.startsWith('/*', start)) {
    const end = text.indexOf('*/', start + 2)
    return end === -1 ? null : blank(end + 2)
  }
  const line = matchAt(LINE_COMMENT, text, start)
  if (line === null || (line === '#' && dialect === 'postgres')) return undefined
  const end = text.indexOf('\n', start)
  return end === -1 ? blank(text.length) : blank(end + 1)
}

function readName (text: string, start: number, quote: string): Token | null {
  let end = text.indexOf(quote, start + 1)
  while (end !== -1 && text[end + 1] === quote) end = text.indexOf(quote, end + 2)
  if (end === -1) return null
  return { type: 'name', end: end + 1, text: () => text.slice(start + 1, end).replaceAll(quote + quote, quote) }
}

function readDollarQuoted (text: string, start: number, tag: string): Token | null {
  const end = text.indexOf(tag, start + tag.length)
  return end === -1 ? null : { type: 'string', end: end + tag.length, text: () => text.slice(start + tag.length, end) }
}

/** @param start the position of the opening quote */
function readQuoted (text: string, start: number, prefix: string, dialect: Dialect): Token | null {
  const hasEscapes = dialect === 'mysql' || prefix === 'e'
  const end = findQuote(text, start + 1, hasEscapes)
  if (end === -1) return null
  return {
    type: 'string',
    end: end + 1,
    text () {
      const inner = text.slice(start + 1, end).replaceAll("''", "'")
      if (prefix === 'x') return Buffer.from(inner, 'hex').toString()
      if (!hasEscapes || !inner.includes('\\')) return inner
      return unescape(text.slice(start + 1, end), dialect)
    }
  }
}

/** Returns the position of the closing quote, or -1. */
function findQuote (text: string, start: number, hasEscapes: boolean): number {
  const special = hasEscapes ? SPECIAL_IN_STRING : QUOTE
  special.lastIndex = start
  for (let match = special.exec(text); match !== null; match = special.exec(text)) {
    if (match[0] === "'" && text[match.index + 1] !== "'") return match.index
    special.lastIndex = match.index + 2
  }
  return -1
}

/** Replaces doubled quotes and escapes of a string in one pass, because `\''` is a quote and the end of the string. */
function unescape (raw: string, dialect: Dialect): string {
  const escapes = dialect === 'mysql' ? MYSQL_ESCAPES : POSTGRES_ESCAPES
  return raw.replace(/''|\\([\s\S])/gu, (whole, char?: string) => {
    if (char === undefined) return "'"
    // Only LIKE patterns give these two a meaning; in a string the backslash stays.
    if (dialect === 'mysql' && (char === '%' || char === '_')) return whole
    return escapes.get(char) ?? char
  })
}

/** Returns the value of a field of PostgreSQL's COPY in text format. */
export function readCopyField (field: string): string | null {
  if (field === '\\N') return null
  if (!field.includes('\\')) return field
  return field.replace(/\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|([\s\S]))/gu, (_, hex?: string, octal?: string, char = '') => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
    return POSTGRES_ESCAPES.get(char as string) ?? char as string
  })
}
