import { type Attributes, RecordBuilder } from './build-records.ts'
import { BLOCK_VALUES_MAX, DEPTH_MAX, GAME_FILES_MAX, PIECE_MAX } from './dat-limits.ts'
import { DatError, type DatParser } from './dat-types.ts'

// The text format of ClrMamePro: blocks `name ( key value … )`, values in quotes if they contain spaces.
const HEADERS = new Set(['clrmamepro', 'doscenter', 'romvault', 'emulator'])
const GAMES = new Set(['game', 'machine', 'resource', 'set'])

type Token = { kind: 'open' } | { kind: 'close' } | { kind: 'word', text: string }

interface Block { name: string, values: Map<string, string> }

const isBlank = (char: string) => char === ' ' || char === '\t' || char === '\r'

/** Reads a text in quotes from a line; `\"` and `\\` are escaped. @returns the text and the position after it */
function readQuoted (line: string, start: number): { text: string, end: number } | null {
  let text = ''
  for (let at = start; at < line.length; at++) {
    const char = line[at] ?? ''
    const next = line[at + 1] ?? ''
    if (char === '"') return { text, end: at + 1 }
    if (char === '\\' && (next === '"' || next === '\\')) {
      text += next
      at++
    } else {
      text += char
    }
  }
  return null
}

/** Returns the end of a word without quotes. Parentheses within a value belong to the value: `name game(usa).bin`. */
function findWordEnd (line: string, start: number, isValue: boolean): number {
  let depth = 0
  for (let at = start; at < line.length; at++) {
    const char = line[at] ?? ''
    if (isBlank(char)) return at
    if (char === '(') depth++
    if (char === ')') depth--
    if (depth < 0 || (depth > 0 && !isValue)) return at
  }
  return line.length
}

/** @property isValue true if the next word is the value of a key */
interface TokenContext { refuse: (problem: string, remedy: string) => never, isValue: () => boolean }

function * readTokens (line: string, { refuse, isValue }: TokenContext): Generator<Token> {
  for (let at = 0; at < line.length;) {
    const char = line[at] ?? ''
    if (isBlank(char)) {
      at++
    } else if (char === '(' || char === ')') {
      yield { kind: char === '(' ? 'open' : 'close' }
      at++
    } else if (char === '"') {
      const quoted = readQuoted(line, at + 1) ?? refuse('a quote is not closed', 'close it on the same line')
      yield { kind: 'word', text: quoted.text }
      at = quoted.end
    } else {
      const end = findWordEnd(line, at, isValue())
      yield { kind: 'word', text: line.slice(at, end) }
      at = end
    }
  }
}

/** Creates a parser of DATs in the text format of ClrMamePro. Memory holds one game. */
export function createClrMameProParser (): DatParser {
  let line = 1
  let rest = ''
  let key: string | null = null
  const open: Block[] = []
  const refuse = (problem: string, remedy: string): never => { throw new DatError(line, problem, remedy) }
  const builder = new RecordBuilder(refuse)
  /** Files of the open game. Its own values may follow them. */
  let files: { values: Attributes, isDisk: boolean }[] = []

  function openBlock (): void {
    const name = key?.toLowerCase() ?? refuse('a block has no name', "write its name before '('")
    key = null
    if (open.push({ name, values: new Map() }) > DEPTH_MAX) refuse(`blocks are nested more than ${DEPTH_MAX} deep`, 'flatten them')
  }

  function closeBlock (): void {
    const block = open.pop() ?? refuse("a ')' closes no block", 'remove it')
    key = null
    if (open.length === 1 && (block.name === 'rom' || block.name === 'disk')) {
      const count = files.push({ values: Object.fromEntries(block.values), isDisk: block.name === 'disk' })
      if (count > GAME_FILES_MAX) refuse(`a game has more than ${GAME_FILES_MAX} files`, 'split it')
    }
    if (open.length > 0) return
    const values = Object.fromEntries(block.values)
    if (HEADERS.has(block.name)) builder.addHeader(values)
    if (GAMES.has(block.name)) {
      builder.openGame(values)
      for (const file of files) builder.addFile(file.values, file.isDisk)
      builder.closeGame()
    }
    files = []
  }

  function addWord (text: string): void {
    const block = open.at(-1)
    if (key === null) {
      key = text
    } else if (block === undefined) {
      refuse(`'${key.slice(0, 50)}' is not followed by a block`, "write '(' after it")
    } else {
      block.values.set(key.toLowerCase(), text)
      key = null
      if (block.values.size > BLOCK_VALUES_MAX) refuse(`the block '${block.name.slice(0, 50)}' has more than ${BLOCK_VALUES_MAX} values`, 'split it')
    }
  }

  function readLine (text: string): void {
    for (const token of readTokens(text, { refuse, isValue: () => key !== null })) {
      if (token.kind === 'open') openBlock()
      else if (token.kind === 'close') closeBlock()
      else addWord(token.text)
    }
  }

  return {
    records: builder.records,
    write (text) {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      for (const one of lines) {
        readLine(one)
        line++
      }
      if (rest.length > PIECE_MAX) refuse(`the line has more than ${PIECE_MAX} characters`, 'shorten it')
    },
    close () {
      readLine(rest)
      if (open.length > 0) refuse(`the block '${open[0]?.name ?? ''}' is not closed`, 'download the DAT again')
    }
  }
}
