import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { deflateRaw } from 'node:zlib'
import type { Archives } from './archive-in-thread.ts'
import { readChdHeader } from './chdman.ts'
import type { Step } from './formats.ts'

const SAMPLES = 8
const SAMPLE_BYTES = 1024 ** 2
/** Of the 2,448 bytes that a CHD counts for a sector of a CD, 2,352 come out. */
const TRACK_SHARE = 2352 / 2448
const deflate = promisify(deflateRaw)

/** What some pieces of a file become when they are compressed, taken for all of it. */
async function sampleFile (path: string): Promise<number> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    let [read, packed] = [0, 0]
    for (let index = 0; index < SAMPLES; index++) {
      const piece = Buffer.alloc(Math.min(SAMPLE_BYTES, Math.ceil(size / SAMPLES)))
      const { bytesRead } = await handle.read(piece, 0, piece.length, Math.floor(size / SAMPLES) * index)
      read += bytesRead
      packed += (await deflate(piece.subarray(0, bytesRead))).length
    }
    return read === 0 ? 0 : Math.round(size * packed / read)
  } finally {
    await handle.close()
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
export const sizeOf = ({ sources }: Pick<Step, 'sources'>) => sum(sources.map((file) => file.file_size_bytes))

async function countUnpacked ({ kind, main }: Step, archives: Archives): Promise<number> {
  if (kind === 'unchd') return (await readChdHeader(main.absolute_path))?.logicalBytes ?? 0
  return sum((await archives.work({ kind: 'list', archive: main.absolute_path })).map(({ size }) => size))
}

/** How many bytes a step writes at most, what it compares included. @throws ArchiveRefusedError */
export async function countNeeded (step: Step, archives: Archives): Promise<number> {
  switch (step.kind) {
    case 'zip': return sizeOf(step)
    case 'unzip': return await countUnpacked(step, archives)
    case 'chd': return 2 * sizeOf(step)
    case 'rezip':
    case 'unchd': return 2 * await countUnpacked(step, archives)
  }
}

/** How large the new files will be; of what is compressed anew nobody can tell, it is worked out of samples. */
export async function estimate (step: Step, archives: Archives): Promise<number> {
  switch (step.kind) {
    case 'zip':
    case 'chd': return sum(await Promise.all(step.sources.map((file) => sampleFile(file.absolute_path))))
    case 'unzip': return await countUnpacked(step, archives)
    case 'unchd': return Math.round(await countUnpacked(step, archives) * TRACK_SHARE)
    // Deflate makes about a tenth more of what LZMA made.
    case 'rezip': return Math.round(sizeOf(step) * 1.1)
  }
}
