import { createClrMameProParser } from './clrmamepro.ts'
import { DAT_BYTES_MAX } from './dat-limits.ts'
import { DatError, type DatGame, type DatHeader, type DatParser, type DatRecord, EMPTY_HEADER } from './dat-types.ts'
import { createDecoder } from './decode-dat.ts'
import { createLogiqxParser } from './logiqx.ts'

/** An open DAT: its header, and its games while they are read. */
export interface OpenDat {
  header: DatHeader
  games: AsyncIterable<DatGame>
}

/** Bytes at the start of a DAT that tell its encoding and format. */
const HEAD_BYTES = 1_024

function createParser (text: string): DatParser {
  const start = text.trimStart()
  if (start.startsWith('<')) return createLogiqxParser()
  if (/^[A-Za-z]+\s*\(/.test(start)) return createClrMameProParser()
  throw new DatError(1, 'the file is neither XML nor a ClrMamePro text', 'give a DAT in one of these formats')
}

/** Reads at least `HEAD_BYTES`, or everything. */
async function readHead (chunks: AsyncIterator<Uint8Array, unknown>): Promise<Buffer> {
  const head: Uint8Array[] = []
  for (let bytes = 0; bytes < HEAD_BYTES;) {
    const next = await chunks.next()
    if (next.done === true) break
    head.push(next.value)
    bytes += next.value.length
  }
  return Buffer.concat(head)
}

async function * readRecords (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<DatRecord> {
  const source: AsyncIterator<Uint8Array, unknown> = chunks[Symbol.asyncIterator]()
  try {
    const head = await readHead(source)
    const decoder = createDecoder(head)
    const text = decoder.write(head)
    const parser = createParser(text)
    parser.write(text)
    yield * parser.records.splice(0)
    for (let bytes = head.length; ;) {
      const next = await source.next()
      if (next.done === true) break
      const { value } = next
      bytes += value.length
      if (bytes > DAT_BYTES_MAX) throw new DatError(1, `the DAT has more than ${DAT_BYTES_MAX} bytes`, 'split it')
      parser.write(decoder.write(value))
      yield * parser.records.splice(0)
    }
    parser.write(decoder.close())
    parser.close()
    yield * parser.records.splice(0)
  } finally {
    await source.return?.()
  }
}

/**
 * Reads a DAT up to its first game. A header after the first game is ignored.
 *
 * @throws DatError, also while the games are read; the caller must drop the games that came before
 */
export async function openDat (chunks: AsyncIterable<Uint8Array>): Promise<OpenDat> {
  const records = readRecords(chunks)
  let header = EMPTY_HEADER
  let first: DatGame | null = null
  for (let next = await records.next(); next.done !== true; next = await records.next()) {
    if ('game' in next.value) {
      first = next.value.game
      break
    }
    header = next.value.header
  }

  async function * readGames (): AsyncGenerator<DatGame> {
    if (first === null) return
    yield first
    for await (const record of records) if ('game' in record) yield record.game
  }
  return { header, games: readGames() }
}
