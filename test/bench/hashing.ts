import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { HashFilesInput } from './hash-files.ts'
import type { HashMemoryInput } from './hash-memory.ts'
import { type LibraryOptions, buildLargeFiles, buildLibrary } from './library.ts'
import { listFiles } from './list-files.ts'
import { type Timing, runProgram } from './process.ts'
import type { Measurement } from './report.ts'

export interface HashingOptions { large: number, largeMib: number, library: LibraryOptions }

/** Other load on a machine varies, so all are measured equally often, in turns, and the best result counts. */
const ROUNDS = 5
const LEAST_RATIO = 0.85

const hashFiles = (paths: string[]) => runProgram<Timing>('hash-files.ts', { paths } satisfies HashFilesInput)

/** Returns the seconds of concurrent `openssl dgst` runs for MD5 and SHA-1 over the files; empty without openssl. */
async function timeOpenssl (paths: readonly string[]): Promise<number[]> {
  const started = performance.now()
  try {
    await Promise.all(['-md5', '-sha1'].map((hash) => promisify(execFile)('openssl', ['dgst', hash, ...paths])))
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw err
  }
  return [(performance.now() - started) / 1_000]
}

interface Best { files: Timing, memory: Timing, openssl: number | null }

const fastest = (timings: readonly Timing[]) => timings.reduce((best, one) => one.seconds < best.seconds ? one : best)

async function measureInTurns (paths: string[], perThread: HashMemoryInput): Promise<Best> {
  const memory: Timing[] = []
  const files: Timing[] = []
  const openssl: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    memory.push(await runProgram<Timing>('hash-memory.ts', perThread))
    files.push(await hashFiles(paths))
    openssl.push(...await timeOpenssl(paths))
  }
  return { memory: fastest(memory), files: fastest(files), openssl: openssl.length === 0 ? null : Math.min(...openssl) }
}

/** Hashes large files, the same amount of memory, and the files with openssl, in one run. */
export async function measureLargeFiles (folder: string, { large, largeMib }: HashingOptions): Promise<Measurement> {
  const paths = buildLargeFiles(join(folder, 'large'), large, largeMib)
  const mib = large * largeMib
  const { files, memory, openssl } = await measureInTurns(paths, { bytes: mib * 1024 ** 2 / availableParallelism() })
  return {
    name: `hashing ${large} files of ${largeMib} MiB`,
    figures: {
      'MiB/s, three hashes of files': mib / files.seconds,
      'MiB/s, the same of memory buffers': mib / memory.seconds,
      ...(openssl === null ? {} : { 'MiB/s, openssl dgst -md5 beside openssl dgst -sha1': mib / openssl }),
      'files/s': large / files.seconds,
      'processor seconds, files': files.processorSeconds,
      'processor seconds, memory buffers': memory.processorSeconds,
      ...(files.peakMib === null ? {} : { 'peak memory of the process, MiB': files.peakMib })
    },
    targets: [{ what: 'files beside memory buffers', is: memory.seconds / files.seconds, least: LEAST_RATIO }],
    notes: openssl === null ? ['there is no openssl to compare with'] : []
  }
}

/** Hashes a library of small files, archives and folders, file by file. */
export async function measureSmallFiles (folder: string, { library: options }: HashingOptions): Promise<Measurement> {
  const library = await buildLibrary(join(folder, 'small'), options)
  const paths = listFiles(library.dir).map(({ path }) => path)
  const { seconds, peakMib } = await hashFiles(paths)
  return {
    name: `hashing ${library.files} small files`,
    figures: {
      'files/s': library.files / seconds,
      'MiB/s': library.bytes / 1024 ** 2 / seconds,
      ...(peakMib === null ? {} : { 'peak memory of the process, MiB': peakMib })
    },
    targets: [],
    notes: []
  }
}
