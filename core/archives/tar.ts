import { extract, type Extract, type Header } from 'tar-stream'
import type { Archive, Entry, Listing } from './archive.ts'
import { ArchiveError, type Budget } from './limits.ts'

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Accepts tars older than the format's magic number; every header's checksum is still checked. */
const TAR_OPTIONS = { allowUnknownFormat: true, highWaterMark: 1024 ** 2 }

/**
 * Reads a tar; each call of `open` returns its bytes from the start. Members come in the stored order.
 * @throws ArchiveError (when entries are read) on anything that is not a complete tar.
 */
export function openTar (open: () => Pieces, budget: Budget): Archive {
  return {
    async list () {
      const members: Listing[] = []
      for await (const { index, name, size } of readTar(open(), budget)) members.push({ index, name, size })
      return members
    },
    async * entries (wanted) {
      let left = wanted?.size ?? Infinity
      for await (const entry of readTar(open(), budget)) {
        if (wanted && !wanted.has(entry.index)) continue
        yield entry
        if (--left === 0) return
      }
    }
  }
}

async function * readTar (bytes: Pieces, budget: Budget): AsyncGenerator<Entry> {
  const tar = extract(TAR_OPTIONS)
  const end = watchEnd(tar)
  const feeding = feed(bytes, tar, end)
  let index = 0
  try {
    for await (const entry of tar) {
      budget.addEntry()
      const { name, size } = entry.header
      if (isRegularFile(entry.header)) {
        yield { index: index++, name, size, crc: null, content: () => readContent(entry, end) }
      }
      entry.resume()
    }
  } catch (error) {
    throw await end.cause(error)
  }
  await feeding
}

interface End {
  readonly closed: Promise<void>
  /** Returns the error that ended the tar early, because a member's own stream only knows that it was destroyed. */
  cause (error: unknown): Promise<unknown>
}

function watchEnd (tar: Extract): End {
  let failure: unknown
  tar.once('error', (error) => {
    failure = error
  })
  const closed = new Promise<void>((resolve) => tar.once('close', resolve))
  return {
    closed,
    async cause (error) {
      if (tar.destroying) await closed
      return failure ?? error
    }
  }
}

async function feed (bytes: Pieces, tar: Extract, { closed }: End): Promise<void> {
  try {
    for await (const piece of bytes) {
      if (!tar.write(piece)) await Promise.race([closed, new Promise<void>((resolve) => tar.once('drain', resolve))])
      if (tar.destroyed) return
    }
    tar.end(null)
  } catch (error) {
    tar.destroy(error instanceof Error ? error : new ArchiveError(String(error)))
  }
}

async function * readContent (entry: AsyncIterable<unknown>, end: End): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of entry) {
      if (piece instanceof Uint8Array) yield piece
    }
  } catch (error) {
    throw await end.cause(error)
  }
}

/** @throws ArchiveError for members that would give wrong content: sparse files and unknown kinds. */
function isRegularFile ({ name, type, pax }: Header): boolean {
  const isSparse = typeof pax === 'object' && pax !== null && Object.keys(pax).some((key) => key.startsWith('GNU.sparse'))
  if (isSparse || !type) throw new ArchiveError(`member '${name}' has an unknown type`)
  return (type === 'file' || type === 'contiguous-file') && !name.endsWith('/')
}
