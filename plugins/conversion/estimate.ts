import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { deflateRaw } from 'node:zlib'
import type { Archives } from './archive-in-thread.ts'
import { readChdHeader } from './chdman.ts'
import type { Step } from './formats.ts'

const SAMPLES = 8
const SAMPLE_BYTES = 1024 ** 2
/** The share of a CHD's sector that comes out: 2,352 of the 2,448 bytes that it counts for a sector of a CD. */
const TRACK_SHARE = 2352 / 2448
const deflate = promisify(deflateRaw)

/** Estimates the compressed size of a file from samples. */
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
  return sum((await archives.run({ kind: 'list', archive: main.absolute_path })).map(({ size }) => size))
}

/** Returns the most bytes that a step writes, including its comparison. @throws ArchiveRefusedError */
export async function countNeeded (step: Step, archives: Archives): Promise<number> {
  switch (step.kind) {
    case 'zip': return sizeOf(step)
    case 'unzip': return await countUnpacked(step, archives)
    case 'chd': return 2 * sizeOf(step)
    case 'rezip':
    case 'unchd': return 2 * await countUnpacked(step, archives)
  }
}

/** Estimates the size of the new files. Sizes of compressed files are extrapolated from samples. */
export async function estimate (step: Step, archives: Archives): Promise<number> {
  switch (step.kind) {
    case 'zip':
    case 'chd': return sum(await Promise.all(step.sources.map((file) => sampleFile(file.absolute_path))))
    case 'unzip': return await countUnpacked(step, archives)
    case 'unchd': return Math.round(await countUnpacked(step, archives) * TRACK_SHARE)
    // Deflate output is about a tenth larger than that of LZMA.
    case 'rezip': return Math.round(sizeOf(step) * 1.1)
  }
}
