import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Pool } from 'undici'
import { TOKEN } from './api-library.ts'
import { type Program, createPrograms } from './api-programs.ts'
import { withEnds } from './cleanup.ts'
import { type BenchOptions, createBench } from './options.ts'
import { readProcessorSeconds } from './process.ts'
import { report } from './report.ts'
import { median } from './statistics.ts'

/**
 * Measures the upload of a large file in chunks, one after the other as apps send them, beside a minimal program that
 * writes the same chunks to one file, and flushes each before it answers.
 */
const MIB = 1024 ** 2
const FILE_BYTES = 512 * MIB
/** The size of the chunks that RomM's web app sends. */
const CHUNK_BYTES = 10 * MIB
const CHUNKS = Math.ceil(FILE_BYTES / CHUNK_BYTES)
const ROUNDS = 5
const LEAST = 0.7
/** The only folder of the library with files. */
const FOLDER = 'bench-2'
/** The library needs no more, because an upload reads none of its ROMs. */
const ROMS = 1_000

const content = Buffer.alloc(CHUNK_BYTES, 'svc benchmark ')
const chunkOf = (number: number) => content.subarray(0, Math.min(CHUNK_BYTES, FILE_BYTES - number * CHUNK_BYTES))

interface Sent { method: 'PUT' | 'POST' | 'GET', path: string, headers?: Record<string, string>, body?: Buffer }

async function send (pool: Pool, { headers = {}, body, ...request }: Sent): Promise<unknown> {
  const answer = await pool.request({
    ...request, headers: { ...headers, authorization: `Bearer ${TOKEN}` }, ...(body === undefined ? {} : { body })
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${request.method} ${request.path} was answered with ${answer.statusCode}: ${text}`)
  return text === '' ? null : JSON.parse(text)
}

const OCTETS = { 'content-type': 'application/octet-stream' }

interface Times { chunksMs: number, processorMs: number }

/** Measures a program while it receives all chunks. */
async function timeChunks ({ listPids }: Program, sendChunk: (number: number) => Promise<unknown>): Promise<Times> {
  const readSeconds = async () => (await listPids()).reduce((sum, pid) => sum + (readProcessorSeconds(pid) ?? NaN), 0)
  const [before, started] = [await readSeconds(), performance.now()]
  for (let number = 0; number < CHUNKS; number++) await sendChunk(number)
  return { chunksMs: performance.now() - started, processorMs: (await readSeconds() - before) * 1_000 }
}

async function upload (program: Program, name: string): Promise<Times> {
  const pool = new Pool(program.url, { connections: 1 })
  try {
    const platforms = await send(pool, { method: 'GET', path: '/api/platforms' }) as { id: number, fs_slug: string }[]
    const platform = platforms.find((one) => one.fs_slug === FOLDER)
    const { upload_id: id } = await send(pool, {
      method: 'POST', path: '/api/roms/upload/start', headers: {
        'x-upload-platform': String(platform?.id), 'x-upload-filename': name, 'x-upload-total-size': String(FILE_BYTES),
        'x-upload-total-chunks': String(CHUNKS)
      }
    }) as { upload_id: string }
    const times = await timeChunks(program, (number) => send(pool, {
      method: 'PUT', path: `/api/roms/upload/${id}`, headers: { ...OCTETS, 'x-chunk-index': String(number) }, body: chunkOf(number)
    }))
    // A completion would start a scan, which would hash the file during the turn of the bare program.
    await send(pool, { method: 'POST', path: `/api/roms/upload/${id}/cancel` })
    return times
  } finally {
    await pool.close()
  }
}

async function uploadBare (program: Program, name: string): Promise<Times> {
  const pool = new Pool(program.url, { connections: 1 })
  try {
    return await timeChunks(program, (number) => send(pool, {
      method: 'PUT', path: `/files/${name}?start=${number * CHUNK_BYTES}`, headers: OCTETS, body: chunkOf(number)
    }))
  } finally {
    await pool.close()
  }
}

const options = createBench('uploads', 'measures the upload of a large file in chunks').parse().opts<BenchOptions>()
await withEnds(async (ends) => {
  const programs = await createPrograms(ROMS, ends)
  const [server, bare] = [await programs.find('one worker'), await programs.find('the bare program')]
  const ours: Times[] = []
  const theirs: Times[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const one = await upload(server, `Upload ${round}.iso`)
    const other = await uploadBare(bare, 'upload')
    rmSync(join(ends.folder, 'files', 'upload'))
    process.stderr.write(`${round} of ${ROUNDS}: ${JSON.stringify(one)}; the bare program ${JSON.stringify(other)}\n`)
    // In the first round code is compiled.
    if (round === 0) continue
    ours.push(one)
    theirs.push(other)
  }
  const perSecond = (ms: number) => FILE_BYTES / 1e6 / (ms / 1_000)
  const [own, other] = [median(ours.map(({ chunksMs }) => chunksMs)), median(theirs.map(({ chunksMs }) => chunksMs))]
  report({
    name: `Upload of ${FILE_BYTES / MIB} MiB in chunks of ${CHUNK_BYTES / MIB} MiB`,
    figures: {
      'server, MB/s': perSecond(own),
      'server, ms of processor time': median(ours.map(({ processorMs }) => processorMs)),
      'bare program, MB/s': perSecond(other),
      'bare program, ms of processor time': median(theirs.map(({ processorMs }) => processorMs))
    },
    targets: [{ what: 'MB/s, server / bare program', is: other / own, least: LEAST }],
    notes: []
  }, options)
})
