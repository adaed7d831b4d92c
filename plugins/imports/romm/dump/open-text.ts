import { open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { createGunzip } from 'node:zlib'
import { SourceError } from '../../contract.ts'
import type { Dialect } from './tokens.ts'

const CHUNK_BYTES = 256 * 1024
/** The most bytes of text that a packed byte may become. SQL with repeated columns shrinks to a fiftieth at most. */
const MAX_RATIO = 1_000
const RATIO_FROM_BYTES = 64 * 1024 * 1024

/** First bytes of files that are no SQL text, with the remedy. */
const OTHER_FORMATS = [
  { start: 'PGDMP', remedy: 'it is a dump in pg_dump\'s custom format. Convert it: pg_restore --no-owner --file=romm.sql <dump>' },
  { start: 'PK\x03\x04', remedy: 'it is a ZIP archive. Unpack it first' },
  { start: '\x28\xb5\x2f\xfd', remedy: 'it is packed by zstd. Unpack it first: zstd -d <dump>' },
  { start: '\xfd7zXZ', remedy: 'it is packed by xz. Unpack it first: xz -d <dump>' },
  { start: 'BZh', remedy: 'it is packed by bzip2. Unpack it first: bzip2 -d <dump>' }
]

/** The last comment of each program, which it writes unless comments are off. */
const END_MARKS: Record<Dialect, RegExp> = {
  mysql: /^-- Dump completed/m,
  postgres: /^-- PostgreSQL database (?:cluster )?dump complete/m
}

/**
 * Refuses a dump that was cut between two statements, which the parser cannot notice.
 *
 * @throws SourceError
 */
export function checkEnd (dialect: Dialect, start: string, end: string): void {
  if (!/^-- (?:MySQL|MariaDB|PostgreSQL)\b.* dump\b/m.test(start) || END_MARKS[dialect].test(end)) return
  throw new SourceError('The dump ends before its last line, "-- … dump complete". Make it again, or copy it again completely')
}

/** Yields the text of a dump, unpacked if it is packed by gzip. */
export async function * openDumpText (path: string, signal: AbortSignal): AsyncGenerator<string> {
  const handle = await open(path).catch((err: unknown) => {
    throw new SourceError(`The dump ${JSON.stringify(path)} cannot be opened: ${(err as Error).message}. ` +
      'Check the path and the rights of the server\'s user', { cause: err })
  })
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new SourceError(`${JSON.stringify(path)} is no file. Name the file of the dump`)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8), 0, 8, 0)
    const head = buffer.subarray(0, bytesRead).toString('latin1')
    const other = OTHER_FORMATS.find(({ start }) => head.startsWith(start))
    if (other !== undefined) throw new SourceError(`The dump ${JSON.stringify(path)} is not read: ${other.remedy}`)
    const bytes = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES, signal })
    yield * decode(head.startsWith('\x1f\x8b') ? unpack(bytes, stats.size) : bytes)
  } finally {
    await handle.close()
  }
}

/** Finds the dialect of a dump from its beginning. */
export function detectDialect (start: string): Dialect {
  if (/^-- PostgreSQL database/m.test(start)) return 'postgres'
  if (/^-- (?:MySQL|MariaDB) dump|^\/\*M?!/m.test(start)) return 'mysql'
  return /`\w+`/.test(start) ? 'mysql' : 'postgres'
}

/** @throws SourceError for damaged data, and for data that grow as no dump does. */
async function * unpack (packed: Readable, size: number): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  pipeline(packed, gunzip, () => {})
  let bytes = 0
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > RATIO_FROM_BYTES && bytes > size * MAX_RATIO) throw new SourceError('The packed dump grows more than any dump does')
      yield chunk
    }
  } catch (err) {
    packed.destroy()
    if (err instanceof SourceError || packed.errored !== null) throw err
    throw new SourceError(`The packed dump is damaged: ${(err as Error).message}. Copy it again completely`, { cause: err })
  }
}

/** Finds UTF-16 by its mark at the beginning, or by the zero byte of its first character, which is one of ASCII. */
function detectEncoding ([first, second]: Buffer): string {
  if ((first === 0xff && second === 0xfe) || second === 0) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || first === 0 ? 'utf-16be' : 'utf-8'
}

/** Decodes UTF-8, or UTF-16, which Windows PowerShell writes when output is redirected. */
async function * decode (chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(detectEncoding(chunk), { fatal: true })
    yield decodeChunk(decoder, chunk)
  }
  if (decoder !== null) yield decodeChunk(decoder)
}

/** Decodes a chunk, or without one the end of the text. @throws SourceError for bytes that are no text */
function decodeChunk (decoder: TextDecoder, chunk?: Buffer): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch (err) {
    throw new SourceError('The dump is not UTF-8, so that names would be damaged. Make it again, and have the program itself write the ' +
      'file, because a shell or an editor may change its encoding: ' +
      'mariadb-dump --default-character-set=utf8mb4 --result-file=romm.sql, or for PostgreSQL pg_dump --encoding=UTF8 --file=romm.sql', { cause: err })
  }
}
