import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { ZipFile } from 'yazl'
import { pack7z } from './seven-zip.ts'

export interface LibraryOptions {
  /** Small plain files, of 512 bytes to `smallKib`. */
  roms: number
  smallKib: number
  /** Number of folders, over which everything is spread evenly. */
  platforms: number
  /** Archives in turn as .zip, .tar.gz and .gz, with up to three members. */
  archives: number
  /** ROMs that are a .zip with one member; default none. */
  zips?: number
  /** ROMs that are a .7z with one member; default none. */
  sevenZips?: number
  /** ROMs that are a folder of two to five files. */
  folders: number
  seed?: number
}

export interface Library {
  dir: string
  /** Platform folders. */
  platforms: string[]
  roms: number
  files: number
  /** Size on disk. */
  bytes: number
}

type Random = (below: number) => number
export interface Content { name: string, bytes: Buffer }

const PLATFORMS = [
  { folder: 'nes', ending: 'nes' }, { folder: 'snes', ending: 'sfc' }, { folder: 'genesis', ending: 'md' },
  { folder: 'gb', ending: 'gb' }, { folder: 'gba', ending: 'gba' }, { folder: 'n64', ending: 'z64' },
  { folder: 'gbc', ending: 'gbc' }, { folder: 'sms', ending: 'sms' }
]
export const PLATFORMS_MAX = PLATFORMS.length
const FIRST_WORDS = ['Crystal', 'Iron', 'Silent', 'Golden', 'Lost', 'Turbo', 'Hidden', 'Broken', 'Little', 'Northern',
  'Électrique', 'Final']
const SECOND_WORDS = ['Voyage', 'Garden', 'Racer', 'Kingdom', 'Tower', 'Puzzle', 'Harbor', 'Legend', 'Orbit', 'Circuit',
  'Tactics', 'Quest']
const TAGS = ['(USA)', '(Europe)', '(Japan)', '(USA, Europe)', '(World) (Rev 1)', '(Europe) (En,Fr,De)', '(USA) (Beta)',
  '(Japan) (Rev A) [b]']
const POOL_BYTES = 1024 ** 2
const LEAST_BYTES = 512
/** Larger files are flushed to disk, because their writing would otherwise continue while they are read. */
const BUFFERED_BYTES = 64 * 1024
/** A zip stores a time for each member, so a fixed time keeps builds identical. */
const MEMBER_TIME = new Date(2000, 0, 1)

/**
 * Creates a generator of reproducible pseudo-random numbers: mulberry32,
 * https://gist.github.com/tommyettinger/46a874533244883189143505d203312c
 */
export function createRandom (seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6D2B79F5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * below)
  }
}

function createPool (random: Random): Buffer {
  const pool = Buffer.allocUnsafe(POOL_BYTES)
  for (let at = 0; at < POOL_BYTES; at += 4) pool.writeUInt32LE(random(2 ** 32), at)
  return pool
}

/** Returns unique content of this size, without the cost of generating each byte. */
function takeContent (pool: Buffer, random: Random, number: number, size: number): Buffer {
  const start = random(pool.length - size)
  const bytes = Buffer.from(pool.subarray(start, start + size))
  bytes.writeUInt32LE(number, 0)
  return bytes
}

async function packZip (members: readonly Content[]): Promise<Buffer> {
  const zip = new ZipFile()
  for (const { name, bytes } of members) {
    zip.addBuffer(bytes, name, { mtime: MEMBER_TIME, mode: 0o100644, forceDosTimestamp: true })
  }
  zip.end()
  return buffer(zip.outputStream)
}

async function packTarGz (members: readonly Content[]): Promise<Buffer> {
  const tar = pack()
  for (const { name, bytes } of members) tar.entry({ name, mtime: MEMBER_TIME }, bytes)
  tar.finalize()
  return gzipSync(await buffer(tar))
}

const PACKERS: { ending: string, pack: (members: readonly Content[]) => Buffer | Promise<Buffer> }[] = [
  { ending: 'zip', pack: packZip },
  { ending: 'tar.gz', pack: packTarGz },
  { ending: 'gz', pack: ([first]) => gzipSync(first?.bytes ?? Buffer.alloc(0)) }
]

/**
 * Writes a library below `dir`, in the structure `roms/{platform}/{game}`. The same options give the same names and
 * bytes each time.
 */
export async function buildLibrary (dir: string, options: LibraryOptions): Promise<Library> {
  const random = createRandom(options.seed ?? 1)
  const pool = createPool(random)
  const platforms = PLATFORMS.slice(0, options.platforms)
  const library: Library = { dir, platforms: platforms.map(({ folder }) => folder), roms: 0, files: 0, bytes: 0 }
  for (const { folder } of platforms) mkdirSync(join(dir, 'roms', folder), { recursive: true })

  function nextName (): string {
    const first = FIRST_WORDS[random(FIRST_WORDS.length)]
    const second = SECOND_WORDS[random(SECOND_WORDS.length)]
    return `${first} ${second} ${String(library.roms).padStart(5, '0')} ${TAGS[random(TAGS.length)]}`
  }
  const nextContent = () => takeContent(pool, random, library.files,
    LEAST_BYTES + random(Math.max(1, options.smallKib * 1024 - LEAST_BYTES)))
  function put (path: string, bytes: Buffer): void {
    writeFileSync(path, bytes, { flush: bytes.length > BUFFERED_BYTES })
    library.files++
    library.bytes += bytes.length
  }
  function nextPlace (): { folder: string, ending: string } {
    const { folder = '', ending = '' } = platforms[library.roms % platforms.length] ?? {}
    return { folder: join(dir, 'roms', folder), ending }
  }

  for (let count = 0; count < options.roms; count++) {
    const { folder, ending } = nextPlace()
    put(join(folder, `${nextName()}.${ending}`), nextContent())
    library.roms++
  }
  for (let count = 0; count < options.archives; count++) {
    const { folder, ending } = nextPlace()
    const packer = PACKERS[count % PACKERS.length]
    const members = Array.from({ length: 1 + random(3) }, (_, index) =>
      ({ name: `part ${index + 1}.${ending}`, bytes: nextContent() }))
    if (packer !== undefined) put(join(folder, `${nextName()}.${packer.ending}`), await packer.pack(members))
    library.roms++
  }
  for (const { count = 0, ending: packed, pack } of [
    { count: options.zips, ending: 'zip', pack: packZip }, { count: options.sevenZips, ending: '7z', pack: pack7z }
  ]) {
    for (let number = 0; number < count; number++) {
      const { folder, ending } = nextPlace()
      const name = nextName()
      put(join(folder, `${name}.${packed}`), await pack([{ name: `${name}.${ending}`, bytes: nextContent() }]))
      library.roms++
    }
  }
  for (let count = 0; count < options.folders; count++) {
    const { folder, ending } = nextPlace()
    const game = join(folder, nextName())
    mkdirSync(game)
    for (let file = 2 + random(4); file > 0; file--) put(join(game, `disc ${file}.${ending}`), nextContent())
    library.roms++
  }
  return library
}

/**
 * Writes large, different files and flushes them to disk, because writing would otherwise continue while they are read.
 */
export function buildLargeFiles (dir: string, count: number, mib: number, seed = 1): string[] {
  const random = createRandom(seed)
  const pool = createPool(random)
  mkdirSync(dir, { recursive: true })
  return Array.from({ length: count }, (_, number) => {
    const path = join(dir, `large ${number + 1}.iso`)
    const file = openSync(path, 'w')
    for (let block = 0; block < mib; block++) {
      pool.writeUInt32LE(random(2 ** 32), 0)
      writeSync(file, pool)
    }
    fsyncSync(file)
    closeSync(file)
    return path
  })
}
